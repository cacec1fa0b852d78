// The Go peer of the benchmark: what controller-runtime on client-go needs for the same work. It speaks the same lines
// as the peers in TypeScript (see ../../peer.ts).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	log.SetLogger(klog.Background())
	// A broken watch is part of the benchmark; its log lines are not.
	klog.LogToStderr(false)
	klog.SetOutput(discard{})
	mode, arguments := os.Args[1], os.Args[2:]
	var err error
	switch mode {
	case "cache":
		err = runCache(arguments[0], arguments[1], len(arguments) > 2 && arguments[2] == "stripped")
	case "gets":
		err = runGets(arguments[0], arguments[1])
	case "queue":
		err = runQueue(arguments[0], arguments[1])
	case "replay":
		err = runReplay(arguments[0], arguments[1], arguments[2])
	default:
		err = fmt.Errorf("there is no mode %q; there are cache, gets, queue and replay", mode)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type discard struct{}

func (discard) Write(line []byte) (int, error) { return len(line), nil }

// runCache fills a cache of all pods and then answers the lines of the harness.
func runCache(kubeconfig, contentType string, stripped bool) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = contentType
	options := cache.Options{Scheme: kubescheme.Scheme}
	if stripped {
		options.DefaultTransform = cache.TransformStripManagedFields()
	}
	ctx := context.Background()
	startCPU := cpuSeconds()
	pods, err := cache.New(config, options)
	if err != nil {
		return err
	}
	informer, err := pods.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	watcher := &watcher{}
	if _, err := informer.AddEventHandler(watcher); err != nil {
		return err
	}
	go func() {
		if err := pods.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	pods.WaitForCacheSync(ctx)
	syncCPU := cpuSeconds() - startCPU
	var list corev1.PodList
	if err := pods.List(ctx, &list); err != nil {
		return err
	}
	objects := len(list.Items)
	list = corev1.PodList{}
	runtime.GC()
	debug.FreeOSMemory()
	report(map[string]any{
		"report": "synced", "objects": objects, "startCpuSeconds": startCPU, "syncCpuSeconds": syncCPU,
		"stallMs": nil, "rssMb": memoryMb("VmRSS"), "peakRssMb": memoryMb("VmHWM"),
	})

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		command, argument, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "events":
			count, err := strconv.ParseInt(argument, 10, 64)
			if err != nil {
				return err
			}
			before := cpuSeconds()
			watcher.expect(count, func() {
				report(map[string]any{"report": "events", "cpuSeconds": cpuSeconds() - before})
			})
			report(map[string]any{"report": "ready"})
		case "see":
			watcher.look(argument, func() { report(map[string]any{"report": "seen"}) })
			report(map[string]any{"report": "ready"})
		default:
			return fmt.Errorf("there is no command %q", command)
		}
	}
	return lines.Err()
}

// watcher counts changes, or waits for one that carries a mark. One thing at a time, as the harness asks for it.
type watcher struct {
	left atomic.Int64
	mark atomic.Pointer[string]
	then atomic.Pointer[func()]
}

const markAnnotation = "bench.polder.dev/mark"

func (w *watcher) expect(count int64, then func()) {
	w.then.Store(&then)
	w.left.Store(count)
}

func (w *watcher) look(mark string, then func()) {
	w.then.Store(&then)
	w.mark.Store(&mark)
}

func (w *watcher) OnAdd(any, bool) {}
func (w *watcher) OnDelete(any)    {}
func (w *watcher) OnUpdate(_, object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	if mark := w.mark.Load(); mark != nil && pod.Annotations[markAnnotation] == *mark {
		w.mark.Store(nil)
		(*w.then.Load())()
	}
	if w.left.Load() > 0 && w.left.Add(-1) == 0 {
		(*w.then.Load())()
	}
}

var _ toolscache.ResourceEventHandler = &watcher{}

// runGets reads one pod again and again, one request after the other.
func runGets(kubeconfig, count string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// The client's own limit of five requests a second would only make this take longer.
	config.QPS = -1
	config.ContentConfig = rest.ContentConfig{ContentType: "application/json"}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	gets, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for range gets {
		if _, err := client.CoreV1().Pods("bench-0").Get(context.Background(), "pod-0", metav1.GetOptions{}); err != nil {
			return err
		}
	}
	report(map[string]any{"report": "done"})
	return nil
}

func report(fields map[string]any) {
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func memoryMb(field string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, field+":"); found {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				panic(err)
			}
			return kb / 1024
		}
	}
	panic("no " + field + " in /proc/self/status")
}
