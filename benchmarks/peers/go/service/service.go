// What ./dev bench --service measures on Go: net/http that answers every request with the same
// text; with a certificate and a key (PEM), over TLS.
//
//	service WORKERS [CERTIFICATE KEY]
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
)

func hello(response http.ResponseWriter, _ *http.Request) {
	response.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(response, "Hello, World!")
}

func main() {
	arguments := os.Args[1:]
	if len(arguments) != 1 && len(arguments) != 3 {
		fmt.Fprintln(os.Stderr, "usage: service WORKERS [CERTIFICATE KEY]")
		os.Exit(2)
	}
	workers, err := strconv.Atoi(arguments[0])
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(workers)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	// No HTTP/2: the others have none, either.
	server := &http.Server{
		Handler:      http.HandlerFunc(hello),
		ErrorLog:     log.New(io.Discard, "", 0),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	if len(arguments) == 3 {
		log.Fatal(server.ServeTLS(listener, arguments[1], arguments[2]))
	}
	log.Fatal(server.Serve(listener))
}
