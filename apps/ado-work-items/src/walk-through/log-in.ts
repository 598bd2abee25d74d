import type { OAuth } from '@x/auth/client'
import type { MachineAuth } from '@x/auth/machine'
import { isClientError } from '@x/client'
import { messageOf } from '@x/core'
import { isSessionNotFound } from '@x/sessions/client'
import { isTaskError } from '@x/tasks/client'
import type { LoginService } from '../authorization/open-login.ts'
import { scopes } from '../authorization/protect-work-items.ts'
import { connect, type ConnectOptions, textOf } from './connect.ts'
import { expect, type Line, type Step } from './step.ts'

/** The dependencies of the steps about logins. */
export interface LoginPlan extends Pick<ConnectOptions, 'url' | 'onInstance'> {
  readonly login: Pick<LoginService, 'auth' | 'personAuth' | 'job'>
  readonly dpop: boolean
}

/**
 * Returns the first steps of a walk-through with logins: every call requires a token, and a job obtains one without a
 * person.
 */
export function loginSteps(plan: LoginPlan): readonly Step[] {
  return [rejectStranger(plan), logInJob(plan), ...(plan.dpop ? [rejectCopiedToken(plan)] : [])]
}

function rejectStranger({ url }: LoginPlan): Step {
  return {
    title: 'A call without a token must be refused.',
    ask: 'tools/list',
    run: async ({ signal }) => {
      const response = await send(url, {}, signal)
      expect(response.status === 401, `it should be rejected with 401, not ${response.status}`)
      return [`401, WWW-Authenticate: ${response.headers.get('www-authenticate')}`]
    },
  }
}

/** A job authenticates with its own key. The authorization server grants it the scope to read only. */
function logInJob(plan: LoginPlan): Step {
  return {
    title: 'A job logs in with its key, and may only read.',
    ask: 'tools/call list_work_items, then update_work_item',
    run: async ({ signal }) => {
      const client = connectAs(plan, plan.login.job)
      const found = await client.callTool('list_work_items', { type: 'Bug', top: 1 }, { signal })
      expect(found.isError !== true, textOf(found).join(' '))
      const change = { workItemId: 4533, fields: { 'System.State': 'Active' } }
      const refusal = await client.callTool('update_work_item', change, { signal }).catch((error: unknown) => error)
      expect(isClientError(refusal), `it should not change anything without ${scopes.write}`)
      return [...textOf(found), `update_work_item: ${refusal.message}`]
    },
  }
}

/** A copied token that is bound to a key is rejected, because the attacker cannot create a DPoP proof (RFC 9449). */
function rejectCopiedToken({ url, login }: LoginPlan): Step {
  return {
    title: 'Another client sends a copied token, and must be refused.',
    ask: 'tools/list, with the token and without a proof',
    run: async ({ signal }) => {
      await login.auth.login(url, { signal })
      const headers = await login.auth.headers({ url: new URL(url), method: 'POST', signal })
      const authorization = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1] ?? ''
      expect(authorization.startsWith('DPoP '), 'the token should be bound to a key')
      const response = await send(url, { authorization }, signal)
      expect(response.status === 401, `it should be rejected with 401, not ${response.status}`)
      return [`401, WWW-Authenticate: ${response.headers.get('www-authenticate')}`]
    },
  }
}

/** Two people use the server at once. Each has their own tasks and sessions, and cannot read the other's. */
export function separateUsers(plan: LoginPlan): Step {
  return {
    title: 'Eve must not find a task or a session of Ada.',
    ask: 'tasks/get and tools/list, with the ids that Ada has',
    run: async ({ signal }) => {
      const ada = connectAs(plan, plan.login.auth)
      const eve = connectAs(plan, plan.login.personAuth('eve'))
      const change = { ids: [4540], fields: { 'Microsoft.VSTS.Common.Priority': 2 } }
      const started = await ada.tasks.start('update_work_items', change, { signal })
      expect(started.status === 'task', 'the call should continue as a task')
      const { task } = started
      await using session = await ada.sessions.create({ signal })

      const lines: Line[] = [`Ada has task ${task.taskId.slice(0, 8)}… and a session of her own`]
      const copiedTask = eve.tasks.resume(task.serialize())
      const noTask = await copiedTask.status({ signal }).catch((error: unknown) => error)
      expect(isTaskError(noTask) && noTask.code === 'expired', 'Eve should not find the task of Ada')
      const copiedSession = eve.sessions.resume(session.serialize())
      const noSession = await copiedSession.listTools({ signal }).catch((error: unknown) => error)
      expect(isSessionNotFound(noSession), 'Eve should not find the session of Ada')
      lines.push(`to Eve: ${messageOf(noTask)}; ${messageOf(noSession)}`)

      const tools = await session.listTools({ signal })
      expect(tools.length > 0, 'Ada should still have her session')
      return [...lines, 'to Ada:', ...textOf(await task.result({ signal }))]
    },
  }
}

/** Creates the client of a person or a job. */
function connectAs({ url, onInstance }: LoginPlan, auth: OAuth | MachineAuth): ReturnType<typeof connect> {
  return connect({ url, onInstance, auth, capabilities: 'capabilities' in auth ? auth.capabilities : undefined })
}

function send(url: string, extra: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...extra }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  return fetch(url, { method: 'POST', headers, body, signal })
}
