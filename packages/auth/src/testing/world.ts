import { connectHttp, type HttpAuthorizer } from '@x/transport-http/client'
import { authErrorOf } from '../client/auth-error.ts'
import { dpop } from '../client/dpop.ts'
import type { Dpop } from '../client/dpop-binding.ts'
import type { OAuthOptions } from '../client/code-authorizer.ts'
import { type OAuth, oauth } from '../client/oauth.ts'
import { memoryAuthStore } from '../client/store.ts'
import { callTool } from './call.ts'
import {
  createMemoryBrowser,
  type MemoryBrowser,
  type ScriptedAuthorizationServer,
  createScriptedAuthorizationServer,
  type ScriptedResource,
  createScriptedResource,
} from './scripted-as.ts'

/** An authorization server, a protected endpoint, and a person. */
export interface TestEnvironment extends AsyncDisposable {
  readonly authorizationServer: ScriptedAuthorizationServer
  readonly resource: ScriptedResource
  readonly browser: MemoryBrowser
  readonly createOAuth: (options?: Partial<OAuthOptions>) => OAuth
}

export async function createTestEnvironment(): Promise<TestEnvironment> {
  const as = await createScriptedAuthorizationServer()
  const resource = await createScriptedResource(as)
  const browser = createMemoryBrowser()
  return {
    authorizationServer: as,
    resource,
    browser,
    createOAuth: (options = {}) => oauth({ client: { name: 'test' }, redirect: browser, ...options }),
    [Symbol.asyncDispose]: async () => {
      await as[Symbol.asyncDispose]()
      await resource[Symbol.asyncDispose]()
    },
  }
}

/** The part of a response that shows that a call was served. */
export const completeResponse = { result: { resultType: 'complete' } }

/** Over a new connection. */
export async function callWithAuth(url: string, auth: HttpAuthorizer, name?: string): Promise<unknown> {
  await using connection = connectHttp(url, { auth })
  return await callTool(connection, name)
}

/** Of a failed call: the authorization error that caused it, if one did. */
export function rejectionOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => authErrorOf(error) ?? error,
  )
}

/** With a new key, independent of any login. */
export function createTestDpop(now = Date.now): Dpop {
  return dpop().createDpop({ store: memoryAuthStore(), isStored: true, now })
}
