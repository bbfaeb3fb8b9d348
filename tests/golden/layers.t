# What can be swept. Parameters change as kernels do; their form does not.
$ nntune layers
| conv3x3: 3x3 convolution, stride 1, border of one zero
|   shapes: 64x56x56 (default), 128x28x28, 256x14x14, 512x7x7; any other as CxHxW with k = c or by keys c,k,h,w
|
|   kernel       device  precisions                         layouts     parameters  what it is
|   direct       cpu     fp32, int8                         nhwc, nchw           9  direct convolution over packed rows, register tile of pixels by output channels
|   im2col       cpu     fp32, int8                         nhwc, nchw           8  patches laid out in scratch, then a matrix product; pixels counted through rows and images
|   winograd     cpu     fp32                               nhwc, nchw           8  Winograd F(2x2,3x3): 16 multiplications for 4 outputs instead of 36
|   direct       cuda    fp32, fp16, bf16                   nhwc, nchw          12  direct convolution on the CUDA cores, blocked in registers and shared memory
|   igemm        cuda    tf32, fp16, bf16                   nhwc                11  implicit matrix product on tensor cores (mma.sync), pipelined through shared memory
|   wgmma        cuda    tf32, fp16, bf16                   nhwc                 8  implicit matrix product on Hopper's tensor cores (wgmma), tiles read from shared memory
|   gemm         cuda    tf32, fp16, bf16, int8, fp8        nhwc                12  matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)
|   gemm_3xtf32  cuda    fp32                               nhwc                12  fp32 as three products of tf32 parts on Hopper's tensor cores
|   cudnn        cuda    fp32, tf32, fp16, bf16, int8, fp8  nhwc, nchw           2  cuDNN's convolution, by heuristic or engine
|
| relu: max(x, 0), element by element
|   shapes: 64x112x112 (default), 64x56x56, 256x56x56, 128x28x28, 512x28x28, 256x14x14 and 13 more; any other as CxHxW or by keys c,h,w
|
|   kernel  device  precisions              layouts     parameters  what it is
|   map     cpu     fp32, fp16, bf16, int8  nhwc, nchw           4  vectors in chunks, stored through or past the caches
|   map     cuda    fp32, fp16, bf16, int8  nhwc, nchw           4  vectors of up to 16 bytes, several under way a thread
|
| add: sum of two tensors: a residual connection
|   shapes: 256x56x56 (default), 512x28x28, 1024x14x14, 2048x7x7, 24x56x56, 32x28x28 and 9 more; any other as CxHxW or by keys c,h,w
|
|   kernel  device  precisions        layouts     parameters  what it is
|   map     cpu     fp32, fp16, bf16  nhwc, nchw           4  vectors in chunks, stored through or past the caches
|   map     cuda    fp32, fp16, bf16  nhwc, nchw           4  vectors of up to 16 bytes, several under way a thread
|
| 'nntune layers conv3x3' shows parameters, constraints and rules of thumb
$ nntune layers conv3x3 | sed -n '/^direct on cpu/,/A configuration/p'
| direct on cpu: direct convolution over packed rows, register tile of pixels by output channels
|   parameter     default  values                 meaning
|   vector_bytes  32       16, 32, 64             bytes of a vector
|   positions     6        2, 4, 6, 7, 8, 14, 28  pixels of a register tile
|   vectors       2        1, 2, 3, 4             vectors of output channels in a register tile
|   unroll        1        1, 2, 4                steps of the innermost loop at a time
|   c_block       64       16, 64, 256            input channels packed at a time
|   rows          4        1, 2, 4, 7, 14         rows of a work item
|   x_tiles       4        1, 2, 4, 8             register tiles along a row of a work item
|   k_blocks      1        1, 2, 4, 8             register tiles along the output channels of a work item
|   k_outer       false    false, true            work items next to each other share weights, not inputs
|   A configuration is legal when:
$ nntune layers --json | cut -c1-120
| {"type":"layers","schema_version":1,"layers":[{"layer":"conv3x3","summary":"3x3 convolution, stride 1, border of one zer
$ nntune layers conv3x4
! nntune: unknown layer 'conv3x4'
!   did you mean 'conv3x3'? Layers: conv3x3, relu, add
= 2
$ nntune layers | grep -cw -e fake -e fault
| 0
= 1
