import { type JsonObject, type JsonValue, parseJson } from '@x/core'
import type { OperationPlan } from '../plan/plan-operation.ts'
import type { ParameterPlan } from '../plan/plan-parameter.ts'
import { checkSchema } from './check-schema.ts'
import { splitItems, writePairs } from './write-value.ts'

/**
 * Arguments of the next page, which a header `Link` names (RFC 8288). Nothing is fetched by itself, and nothing is said
 * of a page that the tool's arguments cannot express.
 */
export async function describeNextPage(
  header: string | null,
  { parameters, input }: OperationPlan,
  args: JsonObject,
): Promise<string | undefined> {
  const address = /<([^<>]{1,2000})>\s*;[^,<]{0,200}\brel="?next\b/i.exec(header ?? '')?.[1]
  if (address === undefined || !URL.canParse(address, 'https://api.invalid')) return undefined
  const pairs = new URL(address, 'https://api.invalid').search.slice(1).split('&')
  const next: Record<string, JsonValue> = {}
  for (const parameter of parameters) {
    const values = changedValues(parameter, pairs, args)
    if (values === undefined) continue
    const { argument } = parameter
    const accepted = await Promise.all(values.map((value) => isAccepted(input.schema, { ...args, [argument]: value })))
    const value = values[accepted.indexOf(true)]
    if (value === undefined) return undefined
    next[argument] = value
  }
  return Object.keys(next).length === 0 ? undefined : `There is a next page, with the arguments ${JSON.stringify(next)}`
}

async function isAccepted(schema: JsonObject, args: JsonObject): Promise<boolean> {
  return (await checkSchema(schema, args)).length === 0
}

/** What the argument may be, in the order of preference. Undefined if the page has the value of this call, or none. */
function changedValues(
  parameter: ParameterPlan,
  pairs: readonly string[],
  args: JsonObject,
): readonly JsonValue[] | undefined {
  if (parameter.place !== 'query') return undefined
  const named = readNamed(parameter.name, pairs)
  const current = Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined
  const sent = readNamed(parameter.name, writePairs(parameter, current ?? null))
  const isSame = JSON.stringify(named.map(decodeText)) === JSON.stringify(sent.map(decodeText))
  return named.length === 0 || isSame ? undefined : readValues(parameter, named)
}

function readNamed(name: string, pairs: readonly string[]): readonly string[] {
  return pairs.flatMap((pair) => {
    const [key = '', ...value] = pair.split('=')
    return decodeText(key) === name ? [value.join('=')] : []
  })
}

function readValues({ style, explode }: ParameterPlan, named: readonly string[]): readonly JsonValue[] {
  const texts = named.map(decodeText)
  const [text = ''] = texts
  if (style === 'json') return [parseJson(text) ?? text]
  const items = explode ? texts : splitItems(named[0] ?? '', style).map(decodeText)
  const list = items.map((item) => readNumber(item) ?? item)
  return [...(texts.length === 1 ? [readNumber(text), readBoolean(text), text] : []), list, items].filter(
    (value) => value !== undefined,
  )
}

/** Undefined for a text that would be written otherwise, such as `007`. */
function readNumber(text: string): number | undefined {
  const number = Number(text)
  return String(number) === text && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined
}

function readBoolean(text: string): boolean | undefined {
  return text === 'true' || text === 'false' ? text === 'true' : undefined
}

function decodeText(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
