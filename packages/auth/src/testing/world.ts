import { connectHttp, type HttpAuthorizer } from '@x/transport-http/client'
import { authErrorOf } from '../client/auth-error.ts'
import { type Dpop, dpopOf } from '../client/dpop.ts'
import { type OAuth, oauth, type OAuthOptions } from '../client/oauth.ts'
import { memoryStore } from '../client/store.ts'
import { openRecords } from '../client/stored.ts'
import { callTool } from './call.ts'
import {
  memoryBrowser,
  type MemoryBrowser,
  type ScriptedAuthorizationServer,
  scriptedAuthorizationServer,
  type ScriptedResource,
  scriptedResource,
} from './scripted-as.ts'

/** An authorization server, an endpoint that it protects, and a person. */
export interface World extends AsyncDisposable {
  readonly as: ScriptedAuthorizationServer
  readonly resource: ScriptedResource
  readonly browser: MemoryBrowser
  readonly login: (options?: Partial<OAuthOptions>) => OAuth
}

export async function createWorld(): Promise<World> {
  const as = await scriptedAuthorizationServer()
  const resource = await scriptedResource(as)
  const browser = memoryBrowser()
  return {
    as,
    resource,
    browser,
    login: (options = {}) => oauth({ client: { name: 'test' }, redirect: browser, ...options }),
    [Symbol.asyncDispose]: async () => {
      await as[Symbol.asyncDispose]()
      await resource[Symbol.asyncDispose]()
    },
  }
}

/** The part of a response that says that a call was served. */
export const served = { result: { resultType: 'complete' } }

/** Calls a tool over a connection of its own. */
export async function call(url: string, auth: HttpAuthorizer, name?: string): Promise<unknown> {
  await using connection = connectHttp(url, { auth })
  return await callTool(connection, name)
}

/** Returns the error of a failed call: the authorization error where that is the cause. */
export function failure(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => authErrorOf(error) ?? error,
  )
}

/** Proofs by a key of its own, outside of any login. */
export function createProofs(now = Date.now): Dpop {
  const dpop = dpopOf(true, { records: openRecords(memoryStore()), isStored: true, now })
  if (dpop === undefined) throw new Error('the option makes no proofs')
  return dpop
}
