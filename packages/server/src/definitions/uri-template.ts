import { DefinitionError } from '../request/definition-error.ts'

/** URIs longer than this, in UTF-16 units, match no template. */
export const maxUriLength = 8192
/** A template is written by the server's author; longer ones are mistakes. */
const maxTemplateLength = 2048
const maxVariables = 8

/** A template that was taken apart: a literal before, between and after its variables. */
export interface UriTemplate {
  readonly text: string
  /** One more than there are variables; all but the first and the last are not empty. */
  readonly literals: readonly string[]
  readonly variables: readonly UriVariable[]
}

/** A variable of a {@link UriTemplate}. */
export interface UriVariable {
  readonly name: string
  /** `{+name}`: may hold slashes. */
  readonly slashes: boolean
}

/** The names of the variables in a template that is known while compiling. */
export type VariableNames<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}`
  ? (Expression extends `+${infer Name}` ? Name : Expression) | VariableNames<Rest>
  : never

/** The values of a template's variables; of a template that is computed, any names. */
export type UriVariables<Template extends string = string> = string extends Template
  ? { readonly [name: string]: string }
  : { readonly [Name in VariableNames<Template>]: string }

/**
 * Takes a template apart. Of RFC 6570 it knows `{name}` and `{+name}`: those can be matched in linear time, and no
 * two that touch. Throws {@link DefinitionError}.
 */
export function parseUriTemplate(text: string): UriTemplate {
  const rejectTemplate = (reason: string) => new DefinitionError('template', `resource template "${text}"`, { reason })
  if (text.length > maxTemplateLength) throw rejectTemplate(`longer than ${maxTemplateLength} characters`)
  const parts = text.split(/\{([^{}]*)\}/)
  const literals = parts.filter((_, index) => index % 2 === 0)
  const variables = parts
    .filter((_, index) => index % 2 === 1)
    .map((expression) => parseVariable(expression, rejectTemplate))
  if (literals.some((literal) => /[{}]/.test(literal))) throw rejectTemplate('has a brace without its partner')
  if (variables.length === 0) throw rejectTemplate('has no variable; define it with resource()')
  if (variables.length > maxVariables) throw rejectTemplate(`has more than ${maxVariables} variables`)
  if (new Set(variables.map(({ name }) => name)).size < variables.length) throw rejectTemplate('names a variable twice')
  if (literals.slice(1, -1).includes('')) {
    throw rejectTemplate('has two variables that touch, so that no URI says where one ends; put text between them')
  }
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(literals[0] ?? ''))
    throw rejectTemplate('must begin with a scheme, such as "file:"')
  return { text, literals, variables }
}

function parseVariable(expression: string, rejectTemplate: (reason: string) => Error): UriVariable {
  const [, plus, name] = /^(\+?)([A-Za-z_][A-Za-z0-9_]*)$/.exec(expression) ?? []
  if (name === undefined)
    throw rejectTemplate(`has the expression "{${expression}}"; write {name}, or {+name} for one with slashes`)
  return { name, slashes: plus === '+' }
}

/**
 * The variables of a URI that the template describes, percent-decoded; undefined when it does not.
 *
 * Takes time linear in the URI for a given template. Where a URI can be split in several ways, an earlier variable
 * takes as much as it can. A value is safe to append to the path of a root folder: it is never empty, has no control
 * characters, begins neither with a slash nor with a drive letter, and has no segment of dots alone, such as `..`, not
 * even encoded twice or in full-width characters. A variable without `+` has neither slash nor backslash
 * (server/resources, security considerations).
 */
export function matchUriTemplate(template: UriTemplate, uri: string): UriVariables | undefined {
  const middle = middleOf(template, uri)
  const texts = middle === undefined ? undefined : splitVariables(template, middle)
  if (texts === undefined) return undefined
  const entries: [string, string][] = []
  for (const [index, variable] of template.variables.entries()) {
    const value = decodeVariable(texts[index] ?? '', variable)
    if (value === undefined) return undefined
    entries.push([variable.name, value])
  }
  return Object.fromEntries(entries)
}

/** Returns the text between the first and the last literal; undefined when the URI does not begin and end with them. */
function middleOf({ literals, variables }: UriTemplate, uri: string): string | undefined {
  const head = literals[0] ?? ''
  const tail = literals[variables.length] ?? ''
  if (uri.length > maxUriLength || uri.length <= head.length + tail.length) return undefined
  return uri.startsWith(head) && uri.endsWith(tail) ? uri.slice(head.length, uri.length - tail.length) : undefined
}

/** The text of each variable, where `middle` is what lies between the first and the last literal. */
function splitVariables({ literals, variables }: UriTemplate, middle: string): readonly string[] | undefined {
  // From the right, for each place where a variable may begin: where it ends, so that the rest still fits.
  const ends: Int32Array[] = []
  let next = lastEnds(middle, variables[variables.length - 1])
  ends.unshift(next)
  for (let index = variables.length - 2; index >= 0; index--) {
    next = endsBefore({ middle, separator: literals[index + 1] ?? '', next }, variables[index])
    ends.unshift(next)
  }
  const texts: string[] = []
  let start = 0
  for (const [index, choices] of ends.entries()) {
    const end = choices[start] ?? 0
    if (end === 0) return undefined
    texts.push(middle.slice(start, end))
    start = end + (literals[index + 1] ?? '').length
  }
  return texts
}

/** The end of the last variable, by its start: at the end of the text, or 0 for nowhere. */
function lastEnds(middle: string, variable: UriVariable | undefined): Int32Array {
  const ends = new Int32Array(middle.length + 1)
  const first = variable?.slashes === true ? 0 : middle.lastIndexOf('/') + 1
  ends.fill(middle.length, first, middle.length)
  return ends
}

/** The end of a variable before a separator, by its start; 0 for nowhere. */
function endsBefore(
  { middle, separator, next }: { middle: string; separator: string; next: Int32Array },
  variable: UriVariable | undefined,
): Int32Array {
  const ends = new Int32Array(middle.length + 1)
  let best = 0
  for (let place = middle.length - separator.length; place >= 0; place--) {
    const slash = variable?.slashes !== true && middle.charCodeAt(place) === 0x2f
    if (slash) best = 0
    else if (best > place) ends[place] = best
    const fits = (next[place + separator.length] ?? 0) > 0 && middle.startsWith(separator, place)
    if (best === 0 && fits) best = place
  }
  return ends
}

function decodeVariable(text: string, variable: UriVariable): string | undefined {
  try {
    const value = decodeURIComponent(text)
    return unsafePath(value, variable) === undefined ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the reason why a value cannot be that of a variable, or undefined when it can. */
function unsafePath(value: string, { slashes }: UriVariable): string | undefined {
  if (value === '') return 'is empty'
  // A pair of surrogates is one character under the flag u; a lone one has no UTF-8, and no URI.
  if (/\p{Surrogate}/u.test(value)) return 'has half of a surrogate pair'
  if (/\p{Cc}/u.test(value)) return 'has a control character'
  if (!slashes && /[/\\]/.test(value)) return 'has a slash; write {+name} in the template to allow it'
  const path = pathOf(value)
  if (/^[/\\]/.test(path)) return 'begins with a slash'
  if (/^[A-Z]:/i.test(path)) return 'begins with a drive letter'
  // Windows ignores spaces and dots at the end of a segment.
  if (path.split(/[/\\]/).some((segment) => /^\.+$/.test(segment.trim()))) return 'has "." or ".." as a segment'
  return undefined
}

const pathCharacters: ReadonlyMap<string, string> = new Map([
  ['2e', '.'],
  ['2f', '/'],
  ['5c', '\\'],
  ['3a', ':'],
])

/** Returns a value as a file system may read it that decodes it once more, or maps characters to similar ones. */
function pathOf(value: string): string {
  const decoded = value.replace(
    /%(?:25)*(2e|2f|5c|3a)/gi,
    (_escape, code: string) => pathCharacters.get(code.toLowerCase()) ?? '',
  )
  return decoded.normalize('NFKC')
}

/**
 * The URI that a template and the values of its variables make; matching it gives the values back. Throws
 * {@link DefinitionError} for a template that cannot be parsed and a value that could not be matched.
 */
export function expandUriTemplate<Template extends string>(template: Template, values: UriVariables<Template>): string {
  const { literals, variables } = parseUriTemplate(template)
  const named = new Map<string, unknown>(Object.entries(values))
  const parts = variables.map((variable, index) => {
    const value = named.get(variable.name)
    const reason = typeof value === 'string' ? unsafePath(value, variable) : 'is missing'
    if (typeof value !== 'string' || reason !== undefined) {
      const subject = `variable "${variable.name}" of resource template "${template}"`
      throw new DefinitionError('template', subject, { reason: reason ?? 'is missing' })
    }
    return (literals[index] ?? '') + (variable.slashes ? encodeURI(value) : encodeURIComponent(value))
  })
  return parts.join('') + (literals[variables.length] ?? '')
}
