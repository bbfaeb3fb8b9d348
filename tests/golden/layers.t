# What can be swept. Parameters change as kernels do; their form does not.
$ nntune layers
| conv3x3: 3x3 convolution with a border of one zero, stride 1 or more
|   shapes: 64x56x56 (default), 128x28x28, 256x14x14, 512x7x7, resnet-128s2, resnet-256s2 and 21 more; any other as CxHxW with k = c or by keys c,k,h,w,stride
|
|   kernel            device  precisions                         layouts     parameters  what it is
|   direct            cpu     fp32, bf16, int8                   nhwc, nchw           9  direct convolution over packed rows, register tile of pixels by output channels
|   im2col            cpu     fp32, bf16, int8                   nhwc, nchw           8  patches laid out in scratch, then a matrix product; pixels counted through rows and images
|   winograd          cpu     fp32                               nhwc, nchw           8  Winograd F(2x2,3x3): 16 multiplications for 4 outputs instead of 36
|   onednn            cpu     fp32, bf16, int8                   nhwc, nchw           2  oneDNN
|   direct            cuda    fp32, fp16, bf16                   nhwc, nchw          12  direct convolution on the CUDA cores, blocked in registers and shared memory
|   winograd          cuda    fp32                               nhwc, nchw           9  Winograd F(2x2,3x3) on the CUDA cores: 16 multiplications for 4 outputs instead of 36
|   winograd4         cuda    fp32                               nhwc, nchw           9  Winograd F(4x4,3x3) on the CUDA cores: 36 multiplications for 16 outputs instead of 144
|   winograd_mma      cuda    tf32, fp16, bf16                   nhwc                 7  Winograd F(2x2,3x3) on tensor cores (mma.sync), transforms in f32
|   winograd4_mma     cuda    fp16                               nhwc                 7  Winograd F(4x4,3x3) on tensor cores (mma.sync), transforms in f32
|   igemm             cuda    tf32, fp16, bf16                   nhwc                11  implicit matrix product on tensor cores (mma.sync), pipelined through shared memory
|   wgmma             cuda    tf32, fp16, bf16                   nhwc                 8  implicit matrix product on Hopper's tensor cores (wgmma), tiles read from shared memory
|   gemm              cuda    tf32, fp16, bf16, int8, fp8        nhwc                13  matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)
|   shift             cuda    tf32, fp16, bf16, int8, fp8        nhwc                 9  nine taps as shifts of one copy of the pixels, multiplied by Hopper's tensor cores (wgmma)
|   gemm_3xtf32       cuda    fp32                               nhwc                13  fp32 as three products of tf32 parts on Hopper's tensor cores
|   gemm_nchw         cuda    tf32, fp16, bf16, int8, fp8        nchw                13  inputs moved to channels last, then the product of 'gemm'
|   gemm_3xtf32_nchw  cuda    fp32                               nchw                13  inputs moved to channels last, then the product of 'gemm_3xtf32'
|   cudnn             cuda    fp32, tf32, fp16, bf16, int8, fp8  nhwc, nchw           2  cuDNN's convolution, by heuristic or engine
|
| conv1x1: 1x1 convolution: a matrix product over pixels; stride 1 or more
|   shapes: 256-64x56x56 (default), 64-64x56x56, 64-256x56x56, 512-128x28x28, 128-512x28x28, 1024-256x14x14 and 24 more; any other as CxHxW with k = c or by keys c,k,h,w,stride
|
|   kernel            device  precisions                             layouts     parameters  what it is
|   gemm              cpu     fp32, bf16, int8                       nhwc, nchw           8  patches laid out in scratch, then a matrix product; pixels counted through rows and images
|   onednn            cpu     fp32, bf16, int8                       nhwc, nchw           2  oneDNN
|   openblas          cpu     fp32                                   nhwc                 0  OpenBLAS
|   igemm             cuda    tf32, fp16, bf16                       nhwc                11  implicit matrix product on tensor cores (mma.sync), pipelined through shared memory
|   gemm              cuda    tf32, fp16, bf16, int8, fp8            nhwc                13  matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)
|   mma_sparse        cuda    fp16_sparse, bf16_sparse, int8_sparse  nhwc                 6  2:4 sparse weights on tensor cores (mma.sp), pipelined through shared memory
|   gemm_sparse       cuda    fp16_sparse, bf16_sparse, int8_sparse  nhwc                13  2:4 sparse weights on Hopper's tensor cores (wgmma.sp), tiles by TMA
|   gemm_3xtf32       cuda    fp32                                   nhwc                13  fp32 as three products of tf32 parts on Hopper's tensor cores
|   gemm_nchw         cuda    tf32, fp16, bf16, int8, fp8            nchw                13  inputs moved to channels last, then the product of 'gemm'
|   gemm_3xtf32_nchw  cuda    fp32                                   nchw                13  inputs moved to channels last, then the product of 'gemm_3xtf32'
|   cudnn             cuda    fp32, tf32, fp16, bf16, int8, fp8      nhwc, nchw           2  cuDNN's convolution, by heuristic or engine
|   cublaslt          cuda    fp32, tf32, fp16, bf16, int8, fp8      nhwc, nchw           1  cuBLASLt's matrix product, by its heuristic list
|
| conv7x7: 7x7 convolution with a border of three zeros; stride 2 unless given
|   shapes: resnet (default); any other as CxKxHxW or by keys c,k,h,w,stride
|
|   kernel        device  precisions                         layouts     parameters  what it is
|   direct        cpu     fp32, bf16, int8                   nhwc, nchw           9  direct convolution over packed rows, register tile of pixels by output channels
|   im2col        cpu     fp32, bf16, int8                   nhwc, nchw           8  patches laid out in scratch, then a matrix product; pixels counted through rows and images
|   onednn        cpu     fp32, bf16, int8                   nhwc, nchw           2  oneDNN
|   simt          cuda    fp32, fp16, bf16, int8             nhwc, nchw           4  CUDA cores: a register tile of outputs by channels
|   strip         cuda    tf32, fp16, bf16                   nhwc, nchw           8  few channels on tensor cores (mma.sync), from strips of the image in shared memory
|   strip_3xtf32  cuda    fp32                               nhwc, nchw           8  the same for fp32, as three products of tf32 parts
|   gemm          cuda    tf32, fp16, bf16, int8, fp8        nhwc                13  matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)
|   gemm_3xtf32   cuda    fp32                               nhwc                13  fp32 as three products of tf32 parts on Hopper's tensor cores
|   cudnn         cuda    fp32, tf32, fp16, bf16, int8, fp8  nhwc, nchw           2  cuDNN's convolution, by heuristic or engine
|
| dwconv3x3: depthwise 3x3 convolution with a border of one zero, stride 1 or more
|   shapes: 256x28x28 (default), mobile-32, mobile-96s2, mobile-144, mobile-144s2, mobile-192 and 5 more; any other as CxHxW or by keys c,h,w,stride
|
|   kernel     device  precisions                         layouts     parameters  what it is
|   depthwise  cpu     fp32, bf16, int8                   nhwc, nchw           4  register tile of pixels by channels, each with its own filter
|   onednn     cpu     fp32, bf16, int8                   nhwc, nchw           2  oneDNN
|   depthwise  cuda    fp32, fp16, bf16, int8             nhwc, nchw           3  a thread has some channels of some neighbouring outputs; shared inputs are read once
|   cudnn      cuda    fp32, tf32, fp16, bf16, int8, fp8  nhwc, nchw           2  cuDNN's convolution, by heuristic or engine
|
| fc: fully connected: a matrix product, for a small batch a matrix times a vector
|   shapes: 1024x1024 (default), 2048x1000, 4096x4096, vgg-6, vgg-8, mobile and 5 more; any other as CxK or by keys c,k
|
|   kernel       device  precisions                             layouts     parameters  what it is
|   gemm         cpu     fp32, bf16, int8                       nhwc, nchw           8  patches laid out in scratch, then a matrix product; pixels counted through rows and images
|   onednn       cpu     fp32, bf16, int8                       nhwc, nchw           2  oneDNN
|   openblas     cpu     fp32                                   nhwc                 0  OpenBLAS
|   gemv         cuda    fp32, tf32, fp16, bf16, int8           nhwc                 4  dot products of a few examples with every weight, at the speed of memory
|   igemm        cuda    tf32, fp16, bf16                       nhwc                11  implicit matrix product on tensor cores (mma.sync), pipelined through shared memory
|   gemm         cuda    tf32, fp16, bf16, int8, fp8            nhwc                13  matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)
|   mma_sparse   cuda    fp16_sparse, bf16_sparse, int8_sparse  nhwc                 6  2:4 sparse weights on tensor cores (mma.sp), pipelined through shared memory
|   gemm_sparse  cuda    fp16_sparse, bf16_sparse, int8_sparse  nhwc                13  2:4 sparse weights on Hopper's tensor cores (wgmma.sp), tiles by TMA
|   gemm_3xtf32  cuda    fp32                                   nhwc                13  fp32 as three products of tf32 parts on Hopper's tensor cores
|   cublaslt     cuda    fp32, tf32, fp16, bf16, int8, fp8      nhwc, nchw           1  cuBLASLt's matrix product, by its heuristic list
|
| conv_bn_relu: 3x3 convolution, batch norm and activation: relu unless act=relu6, silu, gelu or none
|   shapes: 64x56x56 (default), 128x28x28, 256x14x14, 512x7x7, resnet-128s2, resnet-256s2 and 2 more; any other as CxHxW with k = c or by keys c,k,h,w,stride,act
|
|   kernel             device  precisions        layouts     parameters  what it is
|   direct             cpu     fp32, bf16        nhwc, nchw           9  direct convolution over packed rows, register tile of pixels by output channels
|   im2col             cpu     fp32, bf16        nhwc, nchw           8  patches laid out in scratch, then a matrix product; pixels counted through rows and images
|   chain              cpu     fp32, bf16        nhwc, nchw           9  the convolution of 'direct', then batch norm, then activation, each a pass over memory
|   chain_im2col       cpu     fp32, bf16        nhwc, nchw           8  the convolution of 'im2col', then batch norm, then activation, each a pass over memory
|   simt               cuda    fp32, fp16, bf16  nhwc, nchw           4  CUDA cores: batch norm and activation applied to sums
|   chain              cuda    fp32, fp16, bf16  nhwc, nchw           4  convolution, batch norm and activation as three kernels
|   gemm               cuda    tf32, fp16, bf16  nhwc                13  matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)
|   gemm_3xtf32        cuda    fp32              nhwc                13  fp32 as three products of tf32 parts on Hopper's tensor cores
|   gemm_nchw          cuda    tf32, fp16, bf16  nchw                13  inputs moved to channels last, then the product of 'gemm'
|   gemm_3xtf32_nchw   cuda    fp32              nchw                13  inputs moved to channels last, then the product of 'gemm_3xtf32'
|   shift              cuda    tf32, fp16, bf16  nhwc                 9  nine taps as shifts of one copy of the pixels, multiplied by Hopper's tensor cores (wgmma)
|   gemm_chain         cuda    tf32, fp16, bf16  nhwc                13  the convolution of 'gemm', then batch norm, then activation, each a pass over memory
|   gemm_3xtf32_chain  cuda    fp32              nhwc                13  the convolution of 'gemm_3xtf32', then batch norm, then activation, each a pass over memory
|   shift_chain        cuda    tf32, fp16, bf16  nhwc                 9  the convolution of 'shift', then batch norm, then activation, each a pass over memory
|
| conv1x1_chain3: three 1x1 convolutions, each followed by relu
|   shapes: 256-64-64-256x56 (default), 512-128-128-512x28, 1024-256-256-1024x14, 2048-512-512-2048x7, 64-256-64-256x56, mobile-24-144-24-144x56 and 4 more; any other as CxK1xHxW with k2 = k1, k = c or by keys c,k1,k2,k,h,w
|
|   kernel       device  precisions  layouts     parameters  what it is
|   fused        cpu     fp32, bf16  nhwc, nchw           5  all three for a tile of pixels: what lies between stays in the core's cache
|   three        cpu     fp32, bf16  nhwc, nchw           8  three launches of the matrix product of conv1x1, by way of memory
|   simt         cuda    fp32        nhwc, nchw           4  fused, on CUDA cores: what lies between stays in shared memory
|   simt_three   cuda    fp32        nhwc, nchw           5  three launches on CUDA cores, by way of memory
|   mma          cuda    fp16, bf16  nhwc, nchw           6  fused, on tensor cores (mma.sync): what lies between stays in shared memory
|   mma_cluster  cuda    fp16, bf16  nhwc                 7  the same by clusters of blocks that share weights of few pixels
|   mma_three    cuda    fp16, bf16  nhwc, nchw           7  three launches on tensor cores (mma.sync), by way of memory
|   gemm_three   cuda    fp16, bf16  nhwc                13  three launches on Hopper's tensor cores (wgmma, TMA), by way of memory
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
| maxpool: largest of a window, by default 3x3 at steps of 2; border (window - 1) / 2
|   shapes: 64x112x112 (default), 64x224x224-2x2, 128x112x112-2x2, 256x56x56-2x2, 512x28x28-2x2, 512x14x14-2x2 and 3 more; any other as CxHxW or by keys c,h,w,window,stride
|
|   kernel  device  precisions              layouts     parameters  what it is
|   rows    cpu     fp32, fp16, bf16, int8  nhwc, nchw           3  rows of outputs; vectors along the channels (nhwc) or the columns (nchw)
|   window  cuda    fp32, fp16, bf16, int8  nhwc, nchw           3  outputs next to each other share the columns of their windows, channels in vectors
|
| avgpool: average of the whole image, or of windows; no border
|   shapes: 2048x7x7 (default), 1280x7x7, 512x7x7, 1024x8x8, 256x56x56-2x2, 512x28x28-2x2, 1024x14x14-2x2; any other as CxHxW or by keys c,h,w,window,stride
|
|   kernel  device  precisions        layouts     parameters  what it is
|   rows    cpu     fp32, fp16, bf16  nhwc, nchw           3  rows of outputs; vectors along the channels (nhwc) or the columns (nchw)
|   window  cuda    fp32, fp16, bf16  nhwc, nchw           3  outputs next to each other share the columns of their windows, channels in vectors
|   global  cuda    fp32, fp16, bf16  nhwc, nchw           4  whole images: threads share the pixels and meet in shared memory
|
| softmax: exp(x) over its sum in each row
|   shapes: 2364x197 (default), 197x197, 1x1000, 128x1000, 1024x1024, 512x4096; any other as ROWSxC or by keys rows,c
|
|   kernel     device  precisions        layouts  parameters  what it is
|   rows       cpu     fp32, fp16, bf16  nhwc              3  exponentials of a row in a line of f32, then their share of the sum
|   rows       cuda    fp32, fp16, bf16  nhwc              4  rows stay in registers, sums in f32
|   half_sums  cuda    fp16              nhwc              4  the same with sums in fp16: see what it costs in error
|
| layernorm: rows to mean 0 and variance 1, then scaled and shifted
|   shapes: 197x768 (default), 1x768, 384x1024, 512x4096, 256x12288; any other as ROWSxC or by keys rows,c
|
|   kernel     device  precisions        layouts  parameters  what it is
|   rows       cpu     fp32, fp16, bf16  nhwc              3  the mean, the variance of the differences, then the row
|   rows       cuda    fp32, fp16, bf16  nhwc              4  rows stay in registers, sums in f32
|   half_sums  cuda    fp16              nhwc              4  the same with sums in fp16: see what it costs in error
|
| attention: softmax(q k^T / sqrt(d)) v for each head, from one packed tensor
|   shapes: 12x197x64 (default), 16x197x64, 12x512x64, 8x1024x128; any other as HEADSxTOKENSxD or by keys heads,tokens,d
|
|   kernel  device  precisions        layouts  parameters  what it is
|   blocks  cpu     fp32, fp16, bf16  nhwc              5  fused: blocks of keys laid out in scratch, register tiles of queries, one pass over the keys
|   flash   cuda    fp16, bf16        nhwc              3  fused, on tensor cores (mma.sync): scores stay in registers, one pass over the keys
|   simt    cuda    fp32, fp16, bf16  nhwc              3  fused, on the CUDA cores: keys and values staged in f32, one pass over the keys
|
| 'nntune layers conv3x3' shows parameters, constraints and rules of thumb
$ nntune layers conv3x3 | sed -n '/^direct on cpu/,/A configuration/p'
| direct on cpu: direct convolution over packed rows, register tile of pixels by output channels
|   parameter     default  values                 meaning
|   vector_bytes  32       16, 32, 64             bytes of a vector
|   positions     6        2, 4, 6, 7, 8, 14, 28  pixels of a register tile
|   vectors       2        1, 2, 3, 4             vectors of output channels in a register tile
|   unroll        1        1, 2, 4                steps of the innermost loop at a time
|   c_block       64       4, 16, 64, 256         input channels packed at a time
|   rows          4        1, 2, 4, 7, 14         rows of a work item
|   x_tiles       4        1, 2, 4, 8             register tiles along a row of a work item
|   k_blocks      1        1, 2, 4, 8             register tiles along the output channels of a work item
|   k_outer       false    false, true            work items next to each other share weights, not inputs
|   A configuration is legal when:
$ nntune layers --json | cut -c1-120
| {"type":"layers","schema_version":1,"layers":[{"layer":"conv3x3","summary":"3x3 convolution with a border of one zero, s
$ nntune layers conv3x4
! nntune: unknown layer 'conv3x4'
!   did you mean 'conv3x3'? Layers: conv3x3, conv1x1, conv7x7, dwconv3x3, fc, conv_bn_relu, conv1x1_chain3, relu, add, maxpool, avgpool, softmax, layernorm, attention
= 2
$ nntune layers | grep -cw -e fake -e fault
| 0
= 1
