/* profile_program.c: a program as `nntune profile` meets them, over the fake libcupti beside it. What the driver would
 * do at cuInit, loading the injected library, it does itself. The first argument says what it is to do besides. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void fake_device(void);
void fake_kernel(const char *name, uint64_t start, uint64_t end);
void fake_graph(uint64_t start, uint64_t end);
void fake_copy(uint64_t bytes, uint64_t start, uint64_t end);
void fake_memory(uint64_t address, uint64_t bytes, int release);
int fake_runtime_callbacks(void);
void fake_capture(int begin);
int fake_counted_launches(void);

static uint64_t now = 1700000000000000000;

static void cuda_init(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    void *symbol = library != NULL ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&initialize, &symbol, sizeof symbol);
    if (initialize != NULL)
        initialize();
    fake_device();
}

static void kernel(const char *name, uint64_t ns)
{
    fake_kernel(name, now, now + ns);
    now += 2 * ns;
}

static void *on_a_thread(void *unused)
{
    nvtxRangePushA("other thread");
    kernel("_Z6threadv", 50);
    nvtxRangePop();
    return unused;
}

/* 5 warm-up kernels, then 10 iterations of two kernels and a copy in one range each, all in `steady`. */
static void work(void)
{
    pthread_t thread;
    cuda_init();
    fake_memory(4096, 1 << 20, 0);
    for (int i = 0; i < 5; i++)
        kernel("_Z4warmi", 1000);
    nvtxRangePushA("steady");
    for (int i = 0; i < 10; i++) {
        nvtxRangePushA("iteration");
        kernel("_Z4convPf", i == 0 ? 900 : 400);
        kernel("_Z4reluPf", 100);
        fake_copy(1 << 16, now, now + 500);
        now += 1000;
        nvtxRangePop();
    }
    pthread_create(&thread, NULL, on_a_thread, NULL);
    pthread_join(thread, NULL);
    nvtxRangePop();
    fake_graph(now, now + 100);
    fake_memory(8192, 1 << 20, 0);
    fake_memory(4096, 0, 1);
}

static void fork_and_work(void)
{
    work();
    if (fork() == 0) {
        nvtxRangePushA("in the child");
        kernel("not_recorded", 10); /* CUDA does not survive a fork */
        nvtxRangePop();
        exit(0);
    }
    wait(NULL);
}

static void exec_and_work(void)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    work();
    sleep(1); /* an exec runs no handlers of exit: what the period has brought out is there */
    execl(self, self, "work", (char *)NULL);
}

static void crash(void)
{
    nvtxRangePushA("never closed");
    work();
    sleep(1);
    raise(SIGSEGV);
}

static void run_on(void)
{
    cuda_init();
    nvtxRangePushA("endless");
    for (;;) {
        kernel("_Z4loopv", 100);
        usleep(1000);
    }
}

static void twice(void)
{
    cuda_init();
    work();
}

/* So many launches that the library knows which callbacks it can do without. */
static void many(void)
{
    cuda_init();
    nvtxRangePushA("many");
    for (int i = 0; i < 300; i++) {
        kernel("_Z4manyv", 10);
        if (i == 100)
            usleep(400000);
    }
    nvtxRangePop();
    fprintf(stderr, "runtime callbacks: %d\n", fake_runtime_callbacks());
}

static void backwards(void)
{
    cuda_init();
    fake_kernel("good", now, now + 10);
    fake_kernel("bad", now + 10, now);
}

/* A kernel that is captured into a graph, and one that is not. */
static void capture(void)
{
    cuda_init();
    fake_capture(0); /* a mistake of the program's */
    fake_capture(1);
    kernel("_Z8capturedv", 10);
    kernel("_Z8capturedv", 10);
    fake_capture(0);
    kernel("_Z4freev", 10);
    fprintf(stderr, "counted launches: %d\n", fake_counted_launches());
}

static void *launch_on(void *unused)
{
    for (int i = 0; i < 200; i++)
        fake_kernel("_Z4manyv", now, now + 10);
    return unused;
}

/* Threads that launch at the same time: what is counted must be alone. */
static void threads(void)
{
    pthread_t other[4];
    cuda_init();
    for (int i = 0; i < 4; i++)
        pthread_create(&other[i], NULL, launch_on, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(other[i], NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {{"work", work},       {"fork", fork_and_work}, {"exec", exec_and_work}, {"crash", crash},
             {"loop", run_on},     {"twice", twice},        {"many", many},          {"backwards", backwards},
             {"capture", capture}, {"threads", threads}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    return argc > 2 ? atoi(argv[2]) : 0;
}
