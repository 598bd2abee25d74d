import { createClient } from '@x/client'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { createServer } from '@x/server'
import { describeOpenApi, openApiTools } from '../index.ts'
import { apiUrl } from './api-kit.ts'
import { asRead, readParameter } from './read-request.ts'
import { sampleValue } from './sample-value.ts'

/** What a document gave: how many tools, the largest one, and how calls with sampled arguments arrived. */
export interface Trial {
  readonly tools: number
  readonly longestName: number
  readonly largestEntry: number
  readonly arrived: number
  /** Requests that do not say what their arguments say. */
  readonly wrong: readonly string[]
}

/** Calls each tool of a document once, with arguments sampled from its schema, and reads what the API receives. */
export async function tryDocument(document: JsonObject): Promise<Trial> {
  const planned = describeOpenApi(document).flatMap((each) => (each.refused === undefined ? [each] : []))
  let request = new Request(apiUrl)
  const fetch: typeof globalThis.fetch = async (address, init) => {
    request = new Request(address, init)
    return Response.json({})
  }
  const tools = openApiTools(document, { url: apiUrl, fetch, confirm: () => false, log: () => {} })
  const server = createServer({ name: 'api', version: '1.0.0', tools, log: () => {} })
  const client = createClient(server, { name: 'host', version: '1.0.0' })
  const wrong: string[] = []
  let arrived = 0
  for (const { name, method, path } of planned) {
    const input = Object(tools.find((tool) => tool.name === name)?.definition.input)
    const args: JsonObject = Object(sampleValue(input, input))
    const { isError } = await client.callTool(name, args)
    if (isError === true) continue
    arrived += 1
    const body = await request.text()
    const isJson = request.headers.get('content-type')?.includes('json') === true
    const isRight = request.method === method && (!isJson || body === JSON.stringify(args['body']))
    const misread = findMisread(parametersOf(document, method, path), args, request.url.slice(apiUrl.length), path)
    if (!isRight || misread !== undefined) wrong.push(`${name}: ${request.method} ${request.url} ${misread ?? body}`)
  }
  const sizes = planned.map(({ size }) => size)
  const names = planned.map(({ name }) => name.length)
  return { tools: tools.length, longestName: Math.max(...names), largestEntry: Math.max(...sizes), arrived, wrong }
}

function parametersOf(document: JsonObject, method: string, path: string): readonly JsonObject[] {
  const item = follow(document, Object(document['paths'])[path])
  const own: unknown = item[method.toLowerCase()]
  const lists: readonly JsonValue[] = [...(Object(own).parameters ?? []), ...(Object(item).parameters ?? [])]
  return lists.map((each) => follow(document, each))
}

function follow(document: JsonObject, value: JsonValue): JsonObject {
  if (!isJsonObject(value) || typeof value['$ref'] !== 'string') return Object(value)
  let found: unknown = document
  for (const key of value['$ref'].slice(2).split('/'))
    found = Object(found)[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  return Object(found)
}

/** The first parameter that the API reads otherwise. Values of objects with deeper values have no form to read. */
function findMisread(
  parameters: readonly JsonObject[],
  args: JsonObject,
  url: string,
  path: string,
): string | undefined {
  const known = parameters.filter(
    ({ name, in: place }) => Object.hasOwn(args, String(name)) && (place === 'path' || place === 'query'),
  )
  const misread = known.find((parameter) => {
    const { collectionFormat, content, style } = parameter
    const value = args[String(parameter['name'])] ?? null
    if (content !== undefined || style === 'deepObject' || isJsonObject(value)) return false
    const read = readParameter(
      {
        ...(parameter['in'] === 'query' && {
          explode: collectionFormat === 'multi' || parameter['schema'] !== undefined,
        }),
        ...parameter,
      },
      value,
      url,
      path,
    )
    return JSON.stringify(read) !== JSON.stringify(asRead(value))
  })
  return misread && `${String(misread['name'])} is not ${JSON.stringify(args[String(misread['name'])])}`
}
