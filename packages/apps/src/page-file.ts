import { readFile } from 'node:fs/promises'

/**
 * Reads an HTML file, for the member `html` of a page, again for each request of a host. Hosts may cache a page for a
 * minute, so a change of the file may be seen that much later.
 *
 * @example
 * appTool('weather', { description: 'Shows the weather', page: { html: pageFile(new URL('weather.html', import.meta.url)) }, run })
 */
export function pageFile(path: string | URL): () => Promise<string> {
  return () => readFile(path, 'utf8')
}
