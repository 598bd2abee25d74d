/**
 * Returns a text in a form that every store keeps unchanged, without the zero character and lone surrogates. Different texts
 * have different forms, so that no two ids or owners become equal.
 */
export function toStoredText(text: string): string {
  return /^"|\0|\p{Surrogate}/u.test(text) ? JSON.stringify(text) : text
}

/** Returns the original text of a stored text. */
export function fromStoredText(storedText: string): string {
  return storedText.startsWith('"') ? String(JSON.parse(storedText)) : storedText
}
