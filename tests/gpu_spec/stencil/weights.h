// Constant memory that both sources see.
#define RADIUS 3
extern __constant__ float weight[2 * RADIUS + 1];
