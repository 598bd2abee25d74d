import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import { type JsonObject, parseJsonObject } from '@x/core'

const { resolve } = createRequire(import.meta.url)

/** A document of `@readme/oas-examples`, such as `3.1/json/petstore`. */
export function readExample(name: string): JsonObject {
  return parseJsonObject(readFileSync(resolve(`@readme/oas-examples/${name}.json`), 'utf8')) ?? {}
}

/** Such as that of Slack. The README beside these documents says where they are from. */
export function readVendored(name: string): JsonObject {
  const file = new URL(`../../../../tooling/spec/openapi/${name}.json.gz`, import.meta.url)
  return parseJsonObject(gunzipSync(readFileSync(file)).toString()) ?? {}
}
