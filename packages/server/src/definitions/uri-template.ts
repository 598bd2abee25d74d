import { checkArgument } from '@x/core'
import { DefinitionError } from '@x/exchange'

/** The longest URI that a template can match, in UTF-16 units. */
export const maxUriLength = 8192
/** The author writes templates, so a longer one is a mistake. */
const maxTemplateLength = 2048
const maxVariables = 8

/** A parsed template: its variables, and the literals before, between and after them. */
export interface UriTemplate {
  /** One more than there are variables. Only the first and the last may be empty. */
  readonly literals: readonly string[]
  readonly variables: readonly UriVariable[]
}

/** A variable of a {@link UriTemplate}. */
export interface UriVariable {
  readonly name: string
  /** True for `{+name}`, whose value may contain slashes. */
  readonly allowsSlashes: boolean
}

/** Names of the variables in a template whose text the compiler knows. */
export type VariableNames<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}`
  ? (Expression extends `+${infer Name}` ? Name : Expression) | VariableNames<Rest>
  : never

/** Values of a template's variables, by name. A template of the type `string` may have any names. */
export type UriVariables<Template extends string = string> = string extends Template
  ? { readonly [name: string]: string }
  : { readonly [Name in VariableNames<Template>]: string }

/**
 * Parses a template. Of RFC 6570 only `{name}` and `{+name}` are supported, and two variables must have text between
 * them, so that matching takes linear time. Throws {@link DefinitionError}.
 */
export function parseUriTemplate(text: string): UriTemplate {
  const templateError = (reason: string) => new DefinitionError('template', `resource template "${text}"`, { reason })
  if (typeof text !== 'string') throw templateError('must be a string')
  if (text.length > maxTemplateLength) throw templateError(`longer than ${maxTemplateLength} characters`)
  const parts = text.split(/\{([^{}]*)\}/)
  const literals = parts.filter((_, index) => index % 2 === 0)
  const variables = parts
    .filter((_, index) => index % 2 === 1)
    .map((expression) => parseVariable(expression, templateError))
  if (literals.some((literal) => /[{}]/.test(literal))) throw templateError('has a brace without its partner')
  if (variables.length === 0) throw templateError('has no variable; define it with resource()')
  if (variables.length > maxVariables) throw templateError(`has more than ${maxVariables} variables`)
  if (new Set(variables.map(({ name }) => name)).size < variables.length) throw templateError('names a variable twice')
  if (literals.slice(1, -1).includes('')) {
    throw templateError('has two variables that touch, so that no URI says where one ends; put text between them')
  }
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(literals[0] ?? ''))
    throw templateError('must begin with a scheme, such as "file:"')
  return { literals, variables }
}

function parseVariable(expression: string, templateError: (reason: string) => Error): UriVariable {
  const [, plus, name] = /^(\+?)([A-Za-z_][A-Za-z0-9_]*)$/.exec(expression) ?? []
  if (name === undefined)
    throw templateError(`has the expression "{${expression}}"; write {name}, or {+name} for one with slashes`)
  return { name, allowsSlashes: plus === '+' }
}

/**
 * Matches a URI and returns its percent-decoded variables, or undefined.
 *
 * The time is linear in the length of the URI. If a URI can be split in several ways, an earlier variable gets the
 * longest possible text. A value is safe to append to the path of a root folder: it is never empty, has no control
 * characters, begins neither with a slash nor with a drive letter, and has no segment that consists only of dots, such
 * as `..`. Dots that are encoded twice, or full-width, count as dots. A variable without `+` has neither slash nor
 * backslash (server/resources, security considerations).
 */
export function matchUriTemplate(template: UriTemplate, uri: string): UriVariables | undefined {
  const variablePart = variablePartOf(template, uri)
  const variableTexts = variablePart === undefined ? undefined : splitVariables(template, variablePart)
  if (variableTexts === undefined) return undefined
  const entries: [string, string][] = []
  for (const [index, variable] of template.variables.entries()) {
    const value = decodeVariable(variableTexts[index] ?? '', variable)
    if (value === undefined) return undefined
    entries.push([variable.name, value])
  }
  return Object.fromEntries(entries)
}

function variablePartOf({ literals, variables }: UriTemplate, uri: string): string | undefined {
  const prefix = literals[0] ?? ''
  const suffix = literals[variables.length] ?? ''
  if (uri.length > maxUriLength || uri.length <= prefix.length + suffix.length) return undefined
  return uri.startsWith(prefix) && uri.endsWith(suffix)
    ? uri.slice(prefix.length, uri.length - suffix.length)
    : undefined
}

function splitVariables({ literals, variables }: UriTemplate, variablePart: string): readonly string[] | undefined {
  // From right to left: for each start of a variable, the end at which the rest of the text still matches.
  const endIndexes: Int32Array[] = []
  let nextVariableEnds = findLastVariableEnds(variablePart, variables[variables.length - 1])
  endIndexes.unshift(nextVariableEnds)
  for (let index = variables.length - 2; index >= 0; index--) {
    const separator = literals[index + 1] ?? ''
    nextVariableEnds = findEarlierVariableEnds(variablePart, separator, nextVariableEnds, variables[index])
    endIndexes.unshift(nextVariableEnds)
  }
  const variableTexts: string[] = []
  let startIndex = 0
  for (const [index, endIndexByStart] of endIndexes.entries()) {
    const end = endIndexByStart[startIndex] ?? 0
    if (end === 0) return undefined
    variableTexts.push(variablePart.slice(startIndex, end))
    startIndex = end + (literals[index + 1] ?? '').length
  }
  return variableTexts
}

/** Where the last variable ends, for each possible start: at the end of the text, or 0 if it cannot start there. */
function findLastVariableEnds(variablePart: string, variable: UriVariable | undefined): Int32Array {
  const endIndexes = new Int32Array(variablePart.length + 1)
  const firstStartIndex = variable?.allowsSlashes === true ? 0 : variablePart.lastIndexOf('/') + 1
  endIndexes.fill(variablePart.length, firstStartIndex, variablePart.length)
  return endIndexes
}

/** Where a variable before a separator ends, for each possible start, or 0 if it cannot start there. */
function findEarlierVariableEnds(
  variablePart: string,
  separator: string,
  nextVariableEnds: Int32Array,
  variable: UriVariable | undefined,
): Int32Array {
  const endIndexes = new Int32Array(variablePart.length + 1)
  let bestEnd = 0
  for (let position = variablePart.length - separator.length; position >= 0; position--) {
    const isForbiddenSlash = variable?.allowsSlashes !== true && variablePart.charCodeAt(position) === 0x2f
    if (isForbiddenSlash) bestEnd = 0
    else if (bestEnd > position) endIndexes[position] = bestEnd
    const isSeparator =
      (nextVariableEnds[position + separator.length] ?? 0) > 0 && variablePart.startsWith(separator, position)
    if (bestEnd === 0 && isSeparator) bestEnd = position
  }
  return endIndexes
}

function decodeVariable(text: string, variable: UriVariable): string | undefined {
  try {
    const value = decodeURIComponent(text)
    return findUnsafePathReason(value, variable) === undefined ? value : undefined
  } catch {
    return undefined
  }
}

function findUnsafePathReason(value: string, { allowsSlashes }: UriVariable): string | undefined {
  if (value === '') return 'is empty'
  // With the flag `u` a pair of surrogates is one character. A single surrogate cannot be encoded in UTF-8, so no URI
  // contains it.
  if (/\p{Surrogate}/u.test(value)) return 'has half of a surrogate pair'
  if (/\p{Cc}/u.test(value)) return 'has a control character'
  if (!allowsSlashes && /[/\\]/.test(value)) return 'has a slash; write {+name} in the template to allow it'
  const path = decodedPathOf(value)
  if (/^[/\\]/.test(path)) return 'begins with a slash'
  if (/^[A-Z]:/i.test(path)) return 'begins with a drive letter'
  // Windows ignores spaces and dots at the end of a segment.
  if (path.split(/[/\\]/).some((segment) => /^\.+$/.test(segment.trim()))) return 'has "." or ".." as a segment'
  return undefined
}

const pathCharacterByHex: ReadonlyMap<string, string> = new Map([
  ['2e', '.'],
  ['2f', '/'],
  ['5c', '\\'],
  ['3a', ':'],
])

/** The path as a file system sees it that decodes the value once more, or replaces characters by similar ones. */
function decodedPathOf(value: string): string {
  const decodedPath = value.replace(
    /%(?:25)*(2e|2f|5c|3a)/gi,
    (_escape, code: string) => pathCharacterByHex.get(code.toLowerCase()) ?? '',
  )
  return decodedPath.normalize('NFKC')
}

/**
 * Fills in a template. Matching the URI against the template gives the same values, unless a value contains the text
 * between two variables: the earlier variable then gets more. A URI of more than 8,192 characters matches nothing.
 * Throws {@link DefinitionError} for an invalid template, and for a value that no URI of the template could have.
 */
export function expandUriTemplate<Template extends string>(template: Template, values: UriVariables<Template>): string {
  const { literals, variables } = parseUriTemplate(template)
  checkArgument(values, { where: 'expandUriTemplate', takes: 'a template and an object with its values' })
  const valuesByName = new Map<string, unknown>(Object.entries(values))
  const parts = variables.map((variable, index) => {
    const value = valuesByName.get(variable.name)
    const reason = typeof value === 'string' ? findUnsafePathReason(value, variable) : 'is missing'
    if (typeof value !== 'string' || reason !== undefined) {
      const errorSubject = `variable "${variable.name}" of resource template "${template}"`
      throw new DefinitionError('template', errorSubject, { reason: reason ?? 'is missing' })
    }
    return (literals[index] ?? '') + (variable.allowsSlashes ? encodeURI(value) : encodeURIComponent(value))
  })
  return parts.join('') + (literals[variables.length] ?? '')
}
