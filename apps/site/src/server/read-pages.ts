import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** A page of the documentation in Markdown. */
export interface Page {
  /** Its path on the site, such as `guides/replay.md`. */
  readonly path: string
  readonly title: string
  readonly text: string
}

/**
 * Reads the Markdown of every page from the folder of the built site.
 *
 * @throws Error when the site was not built.
 */
export async function readPages(folder: string): Promise<readonly Page[]> {
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  const paths = files.filter((file) => file.endsWith('.md')).map((file) => file.split(sep).join('/'))
  if (paths.length === 0) throw new Error(`There is no site in ${folder}: run "pnpm run docs" first`)
  return Promise.all(paths.toSorted().map((path) => readPage(folder, path)))
}

async function readPage(folder: string, path: string): Promise<Page> {
  const text = await readFile(join(folder, path), 'utf8')
  return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text }
}
