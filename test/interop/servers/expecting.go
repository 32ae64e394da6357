// The server of the Go library: files, echoed bodies, and paths that refuse a body by the head of its request.
package main

import (
	"io"
	"net/http"
	"os"
	"strconv"
)

// Arguments: the folder of the files, the ports for cleartext and for TLS, certificate, key.
func main() {
	http.Handle("/", http.FileServer(http.Dir(os.Args[1])))
	http.HandleFunc("/backend/echo", func(response http.ResponseWriter, request *http.Request) {
		content, _ := io.ReadAll(request.Body)
		response.Write(content)
	})
	for _, status := range []int{401, 413, 417} {
		status := status
		http.HandleFunc("/refused/"+strconv.Itoa(status), func(response http.ResponseWriter, _ *http.Request) {
			response.WriteHeader(status)
		})
	}
	go http.ListenAndServe("127.0.0.1:"+os.Args[2], nil)
	panic(http.ListenAndServeTLS("127.0.0.1:"+os.Args[3], os.Args[4], os.Args[5], nil))
}
