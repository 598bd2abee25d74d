import type { MessageView } from '../../../src/dev/events.ts'

/** Headers that curl sets itself, or that have no meaning without the record. */
const omitted: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'user-agent'])

/**
 * Returns the command that sends a request again. Its secret headers are names of variables. The request keeps its
 * idempotency key, so a server that knows it acts once; `newKey` replaces the key. Undefined for a message that was not
 * sent over HTTP, or that was too long to keep.
 */
export function toCurl({ direction, http, text, bytes }: MessageView, newKey?: string): string | undefined {
  if (direction !== 'sent' || http?.url === undefined || bytes > new Blob([text]).size) return undefined
  const body = newKey === undefined ? text : text.replace(/("[^"]*idempotencyKey":")[^"]*"/, `$1${newKey}"`)
  const headers = Object.entries(http.headers)
    .filter(([name]) => !omitted.has(name))
    .map(([name, value]) =>
      value === '(left out)' ? `-H "${name}: $${variableOf(name)}"` : `-H ${quote(`${name}: ${value}`)}`,
    )
  return ['curl -sS', ...headers, `--data-raw ${quote(body)}`, quote(http.url)].join(' \\\n  ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function variableOf(header: string): string {
  return header.toUpperCase().replaceAll('-', '_')
}
