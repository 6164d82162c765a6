/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"html"
	"os"
	"strings"
)

// Sizes of the picture, in pixels: of a character of the font, of a line, and around the text.
const (
	charWidth, lineHeight = 7.3, 20
	margin                = 16
)

// draw writes what the demo said of one restart as a picture of a terminal.
func draw(path string, lines []string) error {
	longest := 0
	for _, line := range lines {
		longest = max(longest, len(line))
	}
	width, height := int(float64(longest)*charWidth)+2*margin, len(lines)*lineHeight+2*margin
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	fmt.Fprintf(&svg, "<title>%s</title>\n", html.EscapeString(strings.Join(lines, "\n")))
	fmt.Fprintln(&svg, `<rect width="100%" height="100%" rx="6" fill="#1f2430"/>`)
	fmt.Fprintln(&svg, `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12" xml:space="preserve">`)
	for i, line := range lines {
		color := "#cbccc6"
		switch {
		case strings.Contains(line, "kill -9"):
			color = "#f28779"
		case strings.Contains(line, "run again"):
			color = "#bae67e"
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", margin, margin+(i+1)*lineHeight-6, color, html.EscapeString(line))
	}
	fmt.Fprint(&svg, "</g>\n</svg>\n")
	if err := os.WriteFile(path, []byte(svg.String()), 0o644); err != nil { //nolint:gosec // a picture that all may see
		return fmt.Errorf("writing the picture of the restart: %w", err)
	}
	return nil
}
