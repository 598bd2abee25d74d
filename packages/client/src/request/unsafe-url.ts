/**
 * Returns the reason why a URL must not be shown to a user, or `undefined`. A scheme may run code or reach into the
 * machine, credentials make one host look like another, and invisible characters make the shown URL differ from the
 * opened one (client/elicitation, safe URL handling).
 */
export function unsafeUrl(text: string): string | undefined {
  if (text.length > maximumLength) return `it is longer than ${maximumLength} characters`
  if (/[\p{C}\p{Z}]/u.test(text)) return 'it has spaces or invisible characters'
  if (!URL.canParse(text)) return 'it is not an absolute URL'
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return 'it starts with neither https: nor http:'
  return username !== '' || password !== '' ? 'it has credentials before its host' : undefined
}

const maximumLength = 8192
