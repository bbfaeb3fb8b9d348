-- Schema version 9: the activation of a shape is a word. It was a number, and always the last extent of its layer.
UPDATE problem SET shape = substr(shape, 1, length(shape) - 1)
    || CASE substr(shape, -1) WHEN '2' THEN 'relu6' WHEN '3' THEN 'silu' WHEN '4' THEN 'gelu' ELSE 'none' END
    WHERE layer = 'conv_bn_relu' AND shape GLOB '*,act=[2-5]';
