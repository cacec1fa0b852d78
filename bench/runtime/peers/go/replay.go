package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// runReplay stands before a real API server, passes everything on to it, and answers lists and watches of all pods itself,
// in the words of the real one. On `send N` every watch gets N changes, as fast as it takes them: a rate that a real
// server can not make by itself, least of all on the machine that also runs the watcher.
func runReplay(kubeconfig, certificate, key string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	upstream, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	proxy.Transport = transport
	replayer := &replayer{pods: pods, send: make(chan int)}
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	mux.HandleFunc("/api/v1/pods", func(answer http.ResponseWriter, request *http.Request) {
		if err := replayer.serve(answer, request); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}}
	go func() {
		fmt.Fprintln(os.Stderr, server.ServeTLS(listener, "", ""))
		os.Exit(1)
	}()
	report(map[string]any{"report": "listening", "port": listener.Addr().(*net.TCPAddr).Port})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "send "))
		if err != nil {
			return err
		}
		replayer.send <- count
	}
	return lines.Err()
}

type replayer struct {
	pods *corev1.PodList
	send chan int
}

func (r *replayer) serve(answer http.ResponseWriter, request *http.Request) error {
	mediaType := runtime.ContentTypeJSON
	if strings.HasPrefix(request.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		mediaType = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(kubescheme.Codecs.SupportedMediaTypes(), mediaType)
	encoder := kubescheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	query := request.URL.Query()
	if query.Get("watch") != "true" && query.Get("watch") != "1" {
		answer.Header().Set("Content-Type", mediaType)
		return encoder.Encode(r.pods, answer)
	}

	answer.Header().Set("Content-Type", mediaType)
	if mediaType == runtime.ContentTypeProtobuf {
		answer.Header().Set("Content-Type", mediaType+";stream=watch")
	}
	stream := streaming.NewEncoder(
		info.StreamSerializer.Framer.NewFrameWriter(answer),
		kubescheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, corev1.SchemeGroupVersion),
	)
	tell := func(eventType watch.EventType, pod *corev1.Pod) error {
		raw, err := runtime.Encode(encoder, pod)
		if err != nil {
			return err
		}
		return stream.Encode(&metav1.WatchEvent{Type: string(eventType), Object: runtime.RawExtension{Raw: raw}})
	}
	if query.Get("sendInitialEvents") == "true" {
		for at := range r.pods.Items {
			if err := tell(watch.Added, &r.pods.Items[at]); err != nil {
				return err
			}
		}
		end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: r.pods.ResourceVersion,
			Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}
		if err := tell(watch.Bookmark, end); err != nil {
			return err
		}
	}
	answer.(http.Flusher).Flush()

	version, err := strconv.ParseInt(r.pods.ResourceVersion, 10, 64)
	if err != nil {
		return err
	}
	for {
		select {
		case <-request.Context().Done():
			return nil
		case count := <-r.send:
			for at := range count {
				version++
				pod := r.pods.Items[at%len(r.pods.Items)].DeepCopy()
				pod.ResourceVersion = strconv.FormatInt(version, 10)
				pod.Annotations[markAnnotation] = fmt.Sprintf("change-%d", at)
				if err := tell(watch.Modified, pod); err != nil {
					return err
				}
			}
			answer.(http.Flusher).Flush()
		}
	}
}
