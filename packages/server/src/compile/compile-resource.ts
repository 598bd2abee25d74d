import type { CompiledResource, CompiledTemplate } from './catalog.ts'
import { cacheHints, compileCompleters, compileEntry } from './compile-entry.ts'
import { DefinitionError } from '../request/definition-error.ts'
import { completeFromList } from '../methods/list-templates.ts'
import type { Resource, ResourceDescription, ResourceTemplate } from '../definitions/resource.ts'
import { parseUriTemplate } from '../definitions/uri-template.ts'

/** A read result is private, and stale at once, unless the author says otherwise. */
const readDefaults = { ttlMs: 0, scope: 'private' } as const

/** Makes a resource ready to be read. Throws {@link DefinitionError}. */
export function compileResource({ uri, definition }: Resource): CompiledResource {
  const subject = `resource ${JSON.stringify(uri)}`
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}]+$/u.test(uri)) {
    throw new DefinitionError('name', subject, { reason: 'must be a URI with a scheme and without spaces (RFC 3986)' })
  }
  const { size } = definition
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0)) {
    throw new DefinitionError('value', subject, { reason: `size is ${size}; write a whole number of bytes from 0` })
  }
  const wire = { uri, ...descriptionOf(definition, subject), size }
  return { ...compileEntry(wire, definition, subject), key: uri, cache: readHints(definition, subject), definition }
}

/** Makes a template ready to be matched. Throws {@link DefinitionError}. */
export function compileTemplate({ uriTemplate, definition }: ResourceTemplate): CompiledTemplate {
  const subject = `resource template ${JSON.stringify(uriTemplate)}`
  const template = parseUriTemplate(uriTemplate)
  const names = template.variables.map(({ name }) => name)
  const listed = Object.fromEntries(
    definition.list ? names.map((name) => [name, completeFromList(definition, template, name)]) : [],
  )
  const wire = { uriTemplate, ...descriptionOf(definition, subject) }
  return {
    ...compileEntry(wire, definition, subject),
    key: uriTemplate,
    cache: readHints(definition, subject),
    template,
    completers: compileCompleters(names, { ...listed, ...definition.complete }, subject),
    definition,
  }
}

function descriptionOf(definition: ResourceDescription, subject: string): object {
  const { name, title, description, mimeType, annotations, icons, meta } = definition
  if (typeof name !== 'string' || name === '') throw new DefinitionError('value', subject, { reason: 'has no name' })
  return { name, title, description, mimeType, annotations, icons, _meta: meta }
}

function readHints({ cache, visibleTo }: ResourceDescription, subject: string): CompiledResource['cache'] {
  if (visibleTo !== undefined && cache?.scope === 'public') {
    const reason = 'a public result would reach callers to whom visibleTo does not show it; write the scope "private"'
    throw new DefinitionError('cache', subject, { reason })
  }
  return cacheHints(cache, readDefaults, subject)
}
