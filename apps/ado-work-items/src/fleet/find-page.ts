import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the built page; undefined when it was not built. */
export function findPage(): string | undefined {
  // It is as far from the source as from the build.
  const folder = fileURLToPath(new URL('../../dist-web', import.meta.url))
  return existsSync(folder) ? folder : undefined
}
