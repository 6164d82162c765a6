/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/bep/goat"
)

// margin around a picture, in pixels.
const margin = 12

// The picture brings its background, because an image does not learn which of its
// own modes the page around it shows. Both colors therefore change together.
const style = `svg { color: #1b1f24 } rect { fill: #ffffff }
@media (prefers-color-scheme: dark) { svg { color: #e4e8ec } rect { fill: #14171b } }`

// SVG draws a picture of characters. The same text has the same picture, byte by byte.
func SVG(title, text string) string {
	drawn := goat.BuildSVG(strings.NewReader(text))
	width, height := drawn.Width+2*margin, drawn.Height+2*margin

	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="%d %d %d %d" width="%d" height="%d" `+
		`font-family="ui-monospace,Menlo,Consolas,Liberation Mono,monospace" font-size="13.3">`+"\n",
		-margin, -margin, width, height, width, height)
	fmt.Fprintf(&svg, "<title>%s</title>\n<style>%s</style>\n", escape(title), style)
	fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", -margin, -margin, width, height)
	svg.WriteString(strings.ReplaceAll(drawn.Body, " style='font-size:1em'", ""))
	svg.WriteString("</svg>\n")
	return svg.String()
}

func escape(text string) string {
	var escaped strings.Builder
	if err := xml.EscapeText(&escaped, []byte(text)); err != nil {
		panic(err) // a strings.Builder takes everything
	}
	return escaped.String()
}
