import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject, parseJsonObject } from '@x/core'

/** Folder of this package. Those of the source and of the build are in it. */
export const packageRoot = new URL('../', import.meta.url)

/** Has the version, and the ranges of dependencies. */
export function readOwnManifest(): { readonly version: string; readonly dependencies: JsonObject } {
  const manifest = parseJsonObject(readFileSync(new URL('package.json', packageRoot), 'utf8')) ?? {}
  const { version, dependencies } = manifest
  return { version: String(version), dependencies: isJsonObject(dependencies) ? dependencies : {} }
}
