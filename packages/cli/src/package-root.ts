import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject, parseJsonObject } from '@x/core'

/** The folder of this package. The folders of the source and of the build lie in it. */
export const packageRoot = new URL('../', import.meta.url)

/** Reads the manifest of this package: its version, and the ranges of its dependencies. */
export function readOwnManifest(): { readonly version: string; readonly dependencies: JsonObject } {
  const manifest = parseJsonObject(readFileSync(new URL('package.json', packageRoot), 'utf8')) ?? {}
  const { version, dependencies } = manifest
  return { version: String(version), dependencies: isJsonObject(dependencies) ? dependencies : {} }
}
