package main

import (
	"fmt"
	"strconv"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// runQueue puts all keys in, then takes each out and is done with it. With priorities, every second key is one that nobody waits for.
func runQueue(kind, count string) error {
	keys, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("namespace-%d/name-%d", i%100, i)
	}
	startCPU := cpuSeconds()
	switch kind {
	case "plain":
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		for _, name := range names {
			queue.Add(name)
		}
		for range names {
			name, _ := queue.Get()
			queue.Forget(name)
			queue.Done(name)
		}
		queue.ShutDown()
	case "priority":
		queue := priorityqueue.New[string]("bench")
		low := -100
		for i, name := range names {
			if i%2 == 0 {
				queue.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, name)
			} else {
				queue.Add(name)
			}
		}
		for range names {
			name, _, _ := queue.GetWithPriority()
			queue.Forget(name)
			queue.Done(name)
		}
		queue.ShutDown()
	default:
		return fmt.Errorf("there is no queue %q; there are plain and priority", kind)
	}
	report(map[string]any{"report": "queue", "cpuSeconds": cpuSeconds() - startCPU})
	return nil
}
