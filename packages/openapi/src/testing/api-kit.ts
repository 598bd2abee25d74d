import { createClient } from '@x/client'
import type { JsonObject, JsonValue } from '@x/core'
import { createServer } from '@x/server'
import { type OpenApiOptions, openApiTools } from '../index.ts'

/** Stands for an API. The tests answer its requests themselves. */
export const apiUrl = 'https://api.example.com/v2'

/** With one operation, `GET /things` unless the row says otherwise. */
export function documentOf(
  operation: JsonObject,
  { method = 'get', path = '/things', ...root }: { readonly method?: string; readonly path?: string } & JsonObject = {},
): JsonObject {
  return { openapi: '3.1.0', ...root, paths: { [path]: { [method]: { operationId: 'act', ...operation } } } }
}

/** Answers one request of a test. */
export type Answer = (request: Request) => Response | Promise<Response>

export interface Outcome {
  /** As the API received them. */
  readonly requests: readonly Request[]
  readonly text: string
  readonly isError: boolean
  readonly structuredContent: JsonValue | undefined
  readonly content: readonly object[]
  /** Messages of the questions. */
  readonly questions: readonly string[]
  readonly logged: readonly string[]
}

export interface CallSettings {
  readonly options?: Partial<OpenApiOptions>
  readonly answer?: Answer
  /** Answers each form. Undefined for a host without forms. */
  readonly form?: JsonObject | undefined
  /** Undefined for a host without pages. */
  readonly openPage?: ((url: string) => void) | undefined
}

const accept = { confirm: true }

/** Calls the only tool of a document, over a server and a client in memory. */
export async function callTool(
  document: JsonObject,
  args: JsonObject = {},
  settings: CallSettings = {},
): Promise<Outcome> {
  const { options, answer = () => Response.json({}) } = settings
  const requests: Request[] = []
  const logged: string[] = []
  const questions: string[] = []
  const tools = openApiTools(document, {
    url: apiUrl,
    fetch: async (address, init) => {
      const request = new Request(address, init)
      requests.push(request.clone())
      return answer(request)
    },
    log: ({ message }) => logged.push(message),
    ...options,
  })
  const server = createServer({ name: 'api', version: '1.0.0', tools, log: () => {} })
  const form = 'form' in settings ? settings.form : accept
  const { openPage } = settings
  const client = createClient(server, {
    name: 'host',
    version: '1.0.0',
    ...(form !== undefined && {
      elicit: ({ message }) => {
        questions.push(message)
        return { action: 'accept' as const, content: { confirm: form['confirm'] === true } }
      },
    }),
    ...(openPage !== undefined && {
      openUrl: ({ url }: { readonly url: string }) => {
        openPage(url)
        return { action: 'accept' as const }
      },
    }),
  })
  const result = await client.callTool(tools[0]?.name ?? '', args)
  const text = result.content.map((block) => ('text' in block ? block.text : '')).join('\n')
  const { isError = false, structuredContent, content } = result
  return { requests, text, isError, structuredContent, content, questions, logged }
}
