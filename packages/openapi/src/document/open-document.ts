import { isJsonObject, type JsonObject, type JsonValue, quoteText } from '@x/core'
import { OpenApiError, refuseOperation } from './open-api-error.ts'

/** Its version is known. Nothing else of it has been checked. */
export interface OpenApiDocument {
  readonly root: JsonObject
  /** Each has its own rules for schemas and bodies. 3.2 follows those of 3.1. */
  readonly version: '2.0' | '3.0' | '3.1'
}

/** One entry below `paths`. */
export interface DocumentOperation {
  readonly document: OpenApiDocument
  /** In upper case. `*` for a path whose entry cannot be read. */
  readonly method: string
  readonly path: string
  readonly pathItem: JsonObject
  readonly operation: JsonObject
  /** Why the entry cannot be read. */
  readonly problem?: string
}

/** @throws OpenApiError for a value that is no document of a known version. */
export function openDocument(root: unknown): OpenApiDocument {
  const version = isJsonObject(root) ? findVersion(root) : undefined
  if (isJsonObject(root) && version !== undefined) return { root, version }
  throw new OpenApiError('document', 'The document is neither OpenAPI 3.0 to 3.2 nor Swagger 2.0')
}

function findVersion({ swagger, openapi }: JsonObject): OpenApiDocument['version'] | undefined {
  if (swagger === '2.0') return '2.0'
  const [, minor] = typeof openapi === 'string' ? (/^3\.([012])(?:\.|$)/.exec(openapi) ?? []) : []
  if (minor === undefined) return undefined
  return minor === '0' ? '3.0' : '3.1'
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query', 'connect']

/** In the order of `paths`. */
export function listOperations(document: OpenApiDocument): readonly DocumentOperation[] {
  return Object.entries(objectOf(document.root['paths'])).flatMap(([path, value]) => {
    // Other members, such as extensions, are no paths.
    if (!path.startsWith('/')) return []
    try {
      const pathItem = followReferences(document, value)
      return methods.flatMap((method) => {
        const operation = Object.hasOwn(pathItem, method) ? pathItem[method] : undefined
        return isJsonObject(operation) ? [{ document, method: method.toUpperCase(), path, pathItem, operation }] : []
      })
    } catch (error) {
      const problem = error instanceof OpenApiError ? error.message : 'cannot be read'
      return [{ document, method: '*', path, pathItem: {}, operation: {}, problem }]
    }
  })
}

// limit: references | count | references from one to the next | the operation is no tool
const maxSteps = 20

/** Follows a `$ref` to an object. Ends the planning of the operation if there is none. */
export function followReferences(document: OpenApiDocument, value: JsonValue | undefined): JsonObject {
  let found = value
  for (let step = 0; step < maxSteps; step += 1) {
    if (!isJsonObject(found)) refuseOperation('has a part that is not an object')
    const { $ref } = found
    if (typeof $ref !== 'string') return found
    found = followPointer(document, $ref)
  }
  return refuseOperation('has references that form a cycle')
}

/** Finds the value at a local reference. Ends the planning of the operation if there is none. */
export function followPointer({ root }: OpenApiDocument, reference: string): JsonValue {
  const shown = quoteText(reference)
  if (!reference.startsWith('#'))
    refuseOperation(`its reference ${shown} leaves the document; bundle the document first`)
  let found: JsonValue | undefined = root
  for (const segment of reference.split('/').slice(1)) {
    const key = decodePointer(segment)
    const isMember: boolean = typeof found === 'object' && found !== null && Object.hasOwn(found, key)
    // The cast is safe: arrays and objects are read by their own keys alone.
    found = isMember ? (found as JsonObject)[key] : undefined
  }
  if (found === undefined || !/^#(?:\/|$)/.test(reference))
    refuseOperation(`its reference ${shown} names nothing in the document`)
  return found
}

function decodePointer(segment: string): string {
  const unescaped = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(unescaped)
  } catch {
    return unescaped
  }
}

/** Anything but an object becomes an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** Anything but an array becomes an empty one. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** True for an operation without an effect, which may be repeated. Its request has no body. */
export function isReading({ method }: { readonly method: string }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Leaves out the parameters of a media type. */
export function baseTypeOf(mediaType: string): string {
  return mediaType.split(';', 1).join().trim().toLowerCase()
}

export function isJsonType(baseType: string): boolean {
  return /[/+]json$/.test(baseType)
}
