import { isReadonlyArray } from '@x/core'
import { DefinitionError } from '@x/exchange'
import type { CompiledResource, CompiledTemplate } from './catalog.ts'
import { compileCacheHints, compileCompleters, compileEntry } from './compile-entry.ts'
import { resourceMembers, templateMembers, toListedMembers } from './listed-members.ts'
import type {
  Resource,
  ResourceDescription,
  ResourceTemplate,
  AnyTemplateDefinition,
  ResourcePage,
} from '../definitions/resource.ts'
import { parseUriTemplate, matchUriTemplate, type UriTemplate } from '../definitions/uri-template.ts'
import type { Completer } from '../definitions/base-definition.ts'
import type { RequestContext } from '../definitions/context.ts'

/** By default, what was read is private and outdated at once. */
const defaultCacheHints = { ttlMs: 0, scope: 'private' } as const

/** Throws {@link DefinitionError}. */
export function compileResource({ uri, definition }: Resource): CompiledResource {
  const errorSubject = `resource ${JSON.stringify(uri)}`
  if (typeof uri !== 'string') {
    const reason = 'has no URI; a resource template belongs in `resourceTemplates`'
    throw new DefinitionError('name', errorSubject, { reason })
  }
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}]+$/u.test(uri)) {
    throw new DefinitionError('name', errorSubject, {
      reason: 'must be a URI with a scheme and without spaces (RFC 3986)',
    })
  }
  const { size } = definition
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0)) {
    throw new DefinitionError('value', errorSubject, {
      reason: `size is ${size}; write a whole number of bytes from 0`,
    })
  }
  checkName(definition, errorSubject)
  const wireEntry = { uri, ...toListedMembers(definition, resourceMembers) }
  return {
    ...compileEntry(wireEntry, definition, errorSubject),
    key: uri,
    cacheHints: compileReadCacheHints(definition, errorSubject),
    definition,
  }
}

/** Throws {@link DefinitionError}. */
export function compileTemplate({ uriTemplate, definition }: ResourceTemplate): CompiledTemplate {
  const errorSubject = `resource template ${JSON.stringify(uriTemplate)}`
  const template = parseUriTemplate(uriTemplate)
  const names = template.variables.map(({ name }) => name)
  const completersFromList = Object.fromEntries(
    definition.list ? names.map((name) => [name, createListCompleter(definition, template, name)]) : [],
  )
  checkName(definition, errorSubject)
  const wireEntry = { uriTemplate, ...toListedMembers(definition, templateMembers) }
  return {
    ...compileEntry(wireEntry, definition, errorSubject),
    key: uriTemplate,
    cacheHints: compileReadCacheHints(definition, errorSubject),
    template,
    completers: compileCompleters(names, { ...completersFromList, ...definition.complete }, errorSubject),
    definition,
  }
}

function checkName({ name }: ResourceDescription, errorSubject: string): void {
  if (typeof name !== 'string' || name === '')
    throw new DefinitionError('value', errorSubject, { reason: 'has no name' })
}

function compileReadCacheHints(
  { cache, visibleTo }: ResourceDescription,
  errorSubject: string,
): CompiledResource['cacheHints'] {
  if (visibleTo !== undefined && cache?.scope === 'public') {
    const reason = 'a public result would reach callers to whom visibleTo does not show it; write the scope "private"'
    throw new DefinitionError('cache', errorSubject, { reason })
  }
  return compileCacheHints(cache, defaultCacheHints, errorSubject)
}

export async function listTemplateResources(
  definition: AnyTemplateDefinition,
  ctx: RequestContext,
  cursor: string | undefined,
): Promise<ResourcePage> {
  const listReturn = (await definition.list?.(ctx, cursor)) ?? []
  return isReadonlyArray(listReturn) ? { resources: listReturn } : listReturn
}

const maxCompletionPages = 20

const maxCompletionValues = 100

function createListCompleter(definition: AnyTemplateDefinition, template: UriTemplate, name: string): Completer {
  return async (typedText, { arguments: otherArguments, ctx }) => {
    const values = new Set<string>()
    const lowerCaseText = typedText.toLowerCase()
    let cursor: string | undefined
    for (let pageCount = 0; pageCount < maxCompletionPages; pageCount++) {
      const page = await listTemplateResources(definition, ctx, cursor)
      for (const { uri } of page.resources) {
        const variables = matchUriTemplate(template, uri) ?? {}
        const value = variables[name]
        const matchesOtherArguments = Object.entries(otherArguments).every(
          ([otherName, otherValue]) => otherName === name || (variables[otherName] ?? otherValue) === otherValue,
        )
        if (matchesOtherArguments && value?.toLowerCase().startsWith(lowerCaseText) === true) values.add(value)
      }
      cursor = page.nextCursor
      if (cursor === undefined) return [...values]
      if (values.size > maxCompletionValues) break
    }
    return { values: [...values], hasMore: true }
  }
}
