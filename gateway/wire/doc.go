// Package wire reads OpenAI request bodies where they lie and patches them without re-encoding.
//
//	body ──▶ Cursor ──▶ parser ──▶ Request ──▶ Turns, EachMessage     text, unescaped on demand
//	one pass, strict   types and      ├──────▶ Wording                 the prompt for hashing, mostly where it lies
//	RFC 8259           ranges         ├──────▶ Splice                  segments of the same body
//	                                  └──────▶ Inline                  another body: repo snippets in the prompt
//
// Invariants:
//
//  1. One pass: every byte of a body is judged once, whatever parameters it holds.
//  2. Syntax outranks meaning: a body that is not strict JSON is refused for that, though a wrong value came before.
//     Among faults of meaning the first in the text wins, and what is missing comes last.
//  3. A Request aliases its body: the body must stay as it is until the Request is parsed into again or Reset.
//  4. Memory beside the body is a small multiple of it for any input, and a reused Request allocates nothing for a
//     valid one.
//  5. Splice and Inline leave every byte outside the edited members as it was.
//  6. No member name repeats at any level of an accepted body, and none differs from a known one by case alone.
//  7. A tool of which the same bytes were judged good before, by the same vocabulary, is compared and not judged again:
//     the verdict, the values and the wording are those of a parser that knows no tool.
//
// Strings are passed, unescaped and judged as UTF-8 a block of 64 bytes at a time, by AVX-512 or AVX2 where the machine
// has them; the routines for words, which every machine runs, say the same of every byte.
//
// Nothing of Octet is imported. Package sse reads engines' chunks with Cursor.
package wire
