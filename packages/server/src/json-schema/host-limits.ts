import { checkArgument } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import {
  collectSubschemas,
  hasLookAround,
  isModelFormat,
  isModelPropertyName,
  maxModelTools,
  patternsOf,
  refusedRootKeywords,
  type Subschema,
} from '@x/schema/internal'
import type { HostProblemCode } from '../request/report.ts'

/** Something about a server's tools that a known host, or the model API behind it, refuses or drops. */
export interface HostProblem {
  readonly code: HostProblemCode
  /** Undefined for a problem of all tools together. */
  readonly tool: string | undefined
  /**
   * The properties, such as `"a"`, or `"a.b"` for one within another, or a JSON Pointer into the input schema. For
   * `schema_root` the keywords.
   */
  readonly properties: readonly string[]
  /** Hosts that are known to refuse it. */
  readonly hosts: readonly string[]
  /** One sentence with the tool, the properties, the hosts and what would be right. */
  readonly message: string
}

/** The members of a listed tool that {@link findHostProblems} reads. */
export interface ListedTool {
  readonly name: string
  readonly inputSchema: JsonObject
}

/**
 * Finds what known hosts and model APIs refuse in a list of tools, as `tools/list` returns it. `createServer` logs
 * these problems as warnings.
 */
export function findHostProblems(tools: readonly ListedTool[]): readonly HostProblem[] {
  checkArgument(tools, {
    where: 'findHostProblems',
    takes: 'a list of tools, as client.listTools() returns it',
    needs: ['flatMap'],
  })
  const problems = tools.flatMap((tool) =>
    rules.flatMap(({ code, find, text, hosts }) => {
      const found = find(tool)
      if (found === undefined) return []
      const subject = `tool ${JSON.stringify(tool.name.slice(0, 200))}`
      const message = `${text(subject, found.slice(0, maxShownProperties).join(', '))} (${hosts.join(', ')})`
      return [{ code, tool: tool.name, properties: found, hosts, message }]
    }),
  )
  return tools.length > maxModelTools ? [...problems, tooManyToolsProblem(tools.length)] : problems
}

const maxShownProperties = 5

function tooManyToolsProblem(count: number): HostProblem {
  const hosts = ['Codex', 'Copilot CLI']
  const message = `The server has ${count} tools; model APIs accept ${maxModelTools} of all servers together (${hosts.join(', ')})`
  return { code: 'tool_count', tool: undefined, properties: [], hosts, message }
}

interface Rule {
  readonly code: HostProblemCode
  readonly hosts: readonly string[]
  /** No places mean a problem of the tool as a whole; undefined means no problem. */
  readonly find: (tool: ListedTool) => readonly string[] | undefined
  readonly text: (subject: string, places: string) => string
}

const rules: readonly Rule[] = [
  {
    code: 'name',
    hosts: ['Claude Code', 'Codex', 'Copilot CLI'],
    find: ({ name }) => (/^[A-Za-z0-9_.-]{1,50}$/.test(name) ? undefined : []),
    text: (subject) =>
      `The name of ${subject} should be 1 to 50 letters, digits, "_", "-" and "."; hosts put the name of the server ` +
      'before it, and change or drop what is longer',
  },
  {
    code: 'schema_root',
    hosts: ['Codex', 'Claude Code'],
    find: ({ inputSchema }) => {
      const keywords = refusedRootKeywords.filter((keyword) => Object.hasOwn(inputSchema, keyword))
      return keywords.length > 0 || inputSchema['type'] !== 'object' ? keywords : undefined
    },
    text: (subject, keywords) =>
      `The input schema of ${subject} should be one object${keywords === '' ? '' : ` without ${keywords} at its root`}; ` +
      'model APIs refuse any other, some with every tool of the session',
  },
  {
    code: 'property_name',
    hosts: ['Claude Code'],
    find: findPlaces(({ schema }) =>
      Object.keys(isJsonObject(schema['properties']) ? schema['properties'] : {}).filter(
        (name) => !isModelPropertyName(name),
      ),
    ),
    text: (subject, places) =>
      `The property ${places} of ${subject} should have a name of 1 to 64 letters, digits, "_", "-" and "."; hosts drop ` +
      'the tool otherwise',
  },
  {
    code: 'pattern',
    hosts: ['Codex', 'OpenAI Agents'],
    find: findPlaces(({ schema }) => patternsOf(schema).some(hasLookAround)),
    text: (subject, places) =>
      `The pattern of ${places} in ${subject} should be without look-around (?=, ?!, ?<=, ?<!), which the regular ` +
      'expressions of model APIs do not have',
  },
  {
    code: 'format',
    hosts: ['Gemini CLI'],
    find: findPlaces(({ schema: { format } }) => typeof format === 'string' && !isModelFormat(format)),
    text: (subject, places) =>
      `The format of ${places} in ${subject} should be one of JSON Schema, such as "email" or "uri"; model APIs refuse ` +
      'a format that they do not know',
  },
]

function findPlaces(find: (subschema: Subschema) => boolean | readonly string[]): Rule['find'] {
  return ({ inputSchema }) => {
    const subschemas = collectSubschemas(inputSchema)
    // A schema beyond the limits has another fault, which its reader reports.
    const places = typeof subschemas === 'string' ? [] : subschemas.flatMap((subschema) => placesIn(subschema, find))
    return places.length === 0 ? undefined : places
  }
}

function placesIn(subschema: Subschema, find: Parameters<typeof findPlaces>[0]): readonly string[] {
  const found = find(subschema)
  if (typeof found === 'boolean') return found ? [placeOf(subschema)] : []
  return found.map((name) => placeOf(subschema, name.slice(0, 100)))
}

function placeOf({ propertyPath, pointer }: Subschema, name?: string): string {
  const path = [...(propertyPath ?? []), ...(name === undefined ? [] : [name])]
  if (propertyPath !== undefined && path.length > 0) return JSON.stringify(path.join('.'))
  return JSON.stringify(name === undefined ? pointer || 'the root' : `${pointer}/properties/${name}`)
}
