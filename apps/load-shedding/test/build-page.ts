import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** A build of the page, as in `dist-web`. */
export interface BuiltPage {
  readonly root: string
  remove(): Promise<void>
}

/** Builds the page into a temporary folder, which `remove` deletes. */
export async function buildPage(): Promise<BuiltPage> {
  const root = await mkdtemp(join(tmpdir(), 'load-shedding-page-'))
  const configFile = fileURLToPath(new URL('../web/vite.config.ts', import.meta.url))
  await build({ configFile, logLevel: 'silent', build: { outDir: root } })
  return { root, remove: () => rm(root, { recursive: true, force: true }) }
}
