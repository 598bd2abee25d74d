import { AuthError } from './auth-error.ts'
import { withLock } from './store.ts'
import type { AuthRecords, PendingLogin } from './stored.ts'

const maxPendingLogins = 20

/** Stores a login before the redirect, under its `state` and in the list of its endpoint. */
export async function addPendingLogin(records: AuthRecords, state: string, login: PendingLogin): Promise<void> {
  const { endpoint, issuer } = login
  const listKey = records.begunLogins.toKey(endpoint)
  await withLock(records.store, listKey, async () => {
    const states = [...((await records.begunLogins.read(listKey))?.states ?? []), state]
    for (const oldState of states.splice(0, states.length - maxPendingLogins)) await removeLogin(records, oldState)
    await records.begunLogins.write(listKey, { issuer, states })
  })
  await records.pendingLogins.write(records.pendingLogins.toKey(state), login)
}

/** Of the response, only the state has been checked. */
export interface AnsweredLogin extends PendingLogin {
  readonly state: string
  readonly responseUrl: URL
}

/**
 * Removes the record of the login to which a response belongs, so that each login accepts one response. Throws
 * {@link AuthError} `response_invalid` if there is no such record.
 */
export async function takePendingLogin(
  { records, now }: { readonly records: AuthRecords; readonly now: () => number },
  answerUrl: URL,
  expectedState?: string,
): Promise<AnsweredLogin> {
  const stateValues = answerUrl.searchParams.getAll('state')
  const [state = ''] = stateValues
  const isValidState =
    stateValues.length === 1 && state !== '' && (expectedState === undefined || state === expectedState)
  const key = records.pendingLogins.toKey(state)
  const login = isValidState
    ? await withLock(records.store, key, async () => {
        const storedLogin = await records.pendingLogins.read(key)
        await records.pendingLogins.remove(key)
        return storedLogin
      })
    : undefined
  if (login !== undefined && login.expiresAt > now()) return { ...login, state, responseUrl: answerUrl }
  throw new AuthError('response_invalid', 'No login is pending for this response: start the login again')
}

/**
 * Forgets the logins that wait for a response, so that a late one logs no person in. Returns the issuer of the latest.
 * Undefined if no login was begun.
 */
export async function forgetPendingLogins(records: AuthRecords, endpoint: URL): Promise<string | undefined> {
  const listKey = records.begunLogins.toKey(endpoint.href)
  return withLock(records.store, listKey, async () => {
    const begunLogins = await records.begunLogins.read(listKey)
    for (const state of begunLogins?.states ?? []) await removeLogin(records, state)
    await records.begunLogins.remove(listKey)
    return begunLogins?.issuer
  })
}

function removeLogin({ pendingLogins }: AuthRecords, state: string): Promise<void> {
  return pendingLogins.remove(pendingLogins.toKey(state))
}
