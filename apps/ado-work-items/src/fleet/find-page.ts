import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns the folder of the built page, or undefined if it was not built. */
export function findPage(): string | undefined {
  // The relative path is the same from the source and from the build.
  const folder = fileURLToPath(new URL('../../dist-web', import.meta.url))
  return existsSync(folder) ? folder : undefined
}
