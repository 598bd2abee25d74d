import type { Clock } from '@x/core'
import type { ConnectionState, ObservableState } from '@x/exchange'

/** Milliseconds that a call waits for a login that is open in a browser. A host gives a call about a minute. */
const loginWaitMs = 20_000

/** Returns the error about a login that is open in a browser. A state without one may need a login, too. */
function findOpenLogin({ status, reason }: ConnectionState): Error | undefined {
  if (status !== 'login_needed' || reason === undefined) return undefined
  return 'code' in reason && reason.code === 'login_pending' ? reason : undefined
}

/**
 * Runs a call, and gives it up when it has waited long enough for one login of a user. The login stays open for the
 * next call. `stop` cancels the call, so that it does not run after the login unnoticed.
 */
export async function limitLoginWait<T>(
  states: ObservableState,
  clock: Clock,
  { run, stop }: { readonly run: () => Promise<T>; readonly stop: (login: Error) => T },
): Promise<T> {
  let timer: unknown
  const end = (): void => {
    clock.clearTimeout(timer)
    timer = undefined
  }
  let onLogin = (_state: ConnectionState): void => {}
  const stopped = new Promise<T>((resolve) => {
    onLogin = (state) => {
      const login = findOpenLogin(state)
      if (login === undefined) end()
      else timer ??= clock.setTimeout(() => resolve(stop(login)), loginWaitMs)
    }
  })
  const remove = states.onStateChange(onLogin)
  try {
    onLogin(states.state)
    return await Promise.race([run(), stopped])
  } finally {
    remove()
    end()
  }
}
