/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is what is checked of one HTML file.
type Page struct {
	Title    string
	Language string
	// IDs says how often each id occurs.
	IDs map[string]int
	// Links lead to other pages, Loads are what a browser fetches to show this one.
	Links, Loads []string
	// Headings are their levels, in order.
	Headings []int
	// Nameless are images without alt, and pictures and links without a name.
	Nameless []string
	// Mains counts the main landmarks.
	Mains int
}

// Parse reads a page.
func Parse(text io.Reader) (Page, error) {
	root, err := html.Parse(text)
	if err != nil {
		return Page{}, fmt.Errorf("parsing HTML: %w", err)
	}
	page := Page{IDs: map[string]int{}}
	for node := range root.Descendants() {
		if node.Type == html.ElementNode {
			page.add(node)
		}
	}
	return page, nil
}

func (p *Page) add(node *html.Node) {
	if id, ok := attribute(node, "id"); ok {
		p.IDs[id]++
	}
	switch node.DataAtom {
	case atom.Html:
		p.Language, _ = attribute(node, "lang")
	case atom.Title:
		// The title of an SVG is another one.
		if node.Namespace == "" {
			p.Title = strings.TrimSpace(textOf(node))
		}
	case atom.Main:
		p.Mains++
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.Headings = append(p.Headings, int(node.Data[1]-'0'))
	case atom.A:
		href, ok := attribute(node, "href")
		if ok {
			p.Links = append(p.Links, href)
		}
		if ok && name(node) == "" {
			p.Nameless = append(p.Nameless, fmt.Sprintf("link to %q has no text", href))
		}
	case atom.Img:
		src, _ := attribute(node, "src")
		p.Loads = append(p.Loads, src)
		if alt, _ := attribute(node, "alt"); strings.TrimSpace(alt) == "" {
			p.Nameless = append(p.Nameless, fmt.Sprintf("image %q has no alt", src))
		}
	case atom.Script, atom.Iframe, atom.Source, atom.Video, atom.Audio:
		if src, ok := attribute(node, "src"); ok {
			p.Loads = append(p.Loads, src)
		}
	case atom.Link:
		p.addLink(node)
	case atom.Svg:
		if hidden, _ := attribute(node, "aria-hidden"); hidden != "true" && name(node) == "" {
			p.Nameless = append(p.Nameless, "a picture has no aria-label")
		}
	}
}

// addLink adds an element of the head. The canonical address is a link to the page itself.
func (p *Page) addLink(node *html.Node) {
	href, _ := attribute(node, "href")
	switch rel, _ := attribute(node, "rel"); rel {
	case "canonical", "alternate", "prev", "next":
		p.Links = append(p.Links, href)
	default:
		p.Loads = append(p.Loads, href)
	}
}

// name is what a program that reads aloud says for an element.
func name(node *html.Node) string {
	if label, _ := attribute(node, "aria-label"); label != "" {
		return label
	}
	text := textOf(node)
	for inner := range node.Descendants() {
		if alt, ok := attribute(inner, "alt"); ok {
			text += alt
		}
	}
	// The letters of a picture are not its name.
	if node.DataAtom == atom.Svg {
		return ""
	}
	return strings.TrimSpace(text)
}

func textOf(node *html.Node) string {
	var text strings.Builder
	for inner := range node.Descendants() {
		if inner.Type == html.TextNode {
			text.WriteString(inner.Data)
		}
	}
	return text.String()
}

func attribute(node *html.Node, key string) (string, bool) {
	for _, attr := range node.Attr {
		if attr.Namespace == "" && attr.Key == key {
			return attr.Val, true
		}
	}
	return "", false
}
