// Package ui is the operators' page: files that are embedded, and the handler that serves them with the headers which
// keep it to itself.
//
//	assets/index.html ─▶ vendor/uPlot (charts)
//	                 └─▶ js/main.js ─▶ session, poll, dom, route ─▶ views/*.js ─▶ GET /admin/…
//
// Invariants:
//
//  1. The page asks nothing of another host, runs no script and applies no style that is not a file of its own: the
//     policy that it is served with forbids it, and tests look for both.
//  2. What a gateway says goes into the page as text. No file has innerHTML or its like.
//  3. The page changes nothing. All that it sends but GET is POST /admin/route, which runs nothing.
//  4. The files have nothing in them that is a secret: they are served without the token, which the page asks for.
package ui
