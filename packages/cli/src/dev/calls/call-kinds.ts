import type { Client } from '@x/client'
import type { JsonObject } from '@x/core'
import { expandUriTemplate } from '@x/server'
import type { SkillsClient } from '@x/skills/client'
import type { TasksClient } from '@x/tasks/client'
import type { CallKind } from '../events.ts'

/** The client of the page. What a profile does not declare is absent. */
export type DevClient = Client & { readonly tasks?: TasksClient; readonly skills?: SkillsClient }

export interface CallRequest {
  readonly kind: CallKind
  /** Name of a tool or prompt, URI of a resource or skill, or URI template. */
  readonly target: string
  readonly args: JsonObject
}

type CallOptions = NonNullable<Parameters<Client['readResource']>[1]>

/** How each kind is called. */
export const callRows: {
  readonly [Kind in CallKind]: {
    readonly method: string
    run(client: DevClient, request: CallRequest, options: CallOptions): Promise<object>
  }
} = {
  tool: {
    method: 'tools/call',
    run: (client, { target, args }, options) => client.callTool(target, args, options),
  },
  prompt: {
    method: 'prompts/get',
    run: (client, { target, args }, options) => client.getPrompt(target, toTextArguments(args), options),
  },
  resource: {
    method: 'resources/read',
    run: (client, { target }, options) => client.readResource(target, options),
  },
  template: {
    method: 'resources/read',
    run: (client, { target, args }, options) =>
      client.readResource(expandUriTemplate(target, toTextArguments(args)), options),
  },
  skill: {
    method: 'resources/read',
    run: async ({ skills }, { target }, options) => {
      if (skills === undefined) throw new Error('This client does not have the skills extension')
      const {
        uri,
        mimeType,
        text = '(binary)',
      } = await skills.read(await skills.get(target, options), undefined, options)
      return { contents: [{ uri, mimeType, text }] }
    },
  },
}

function toTextArguments(args: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}
