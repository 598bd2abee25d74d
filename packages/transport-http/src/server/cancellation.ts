import type { Call } from '@x/schema'

/** The state behind one call's abort signal, which is made when somebody first looks at it: hardly anybody does. */
export interface Cancellation {
  controller: AbortController | undefined
  aborted: boolean
  reason: unknown
}

const cancellationKey = Symbol('cancellation')

type CallWithoutSignal = Omit<Call, 'signal'> & { readonly [cancellationKey]: Cancellation }

/** Starts a {@link Cancellation}. */
export function createCancellation(): Cancellation {
  return { controller: undefined, aborted: false, reason: undefined }
}

/** Aborts the signal, whether or not it has been looked at; the first reason stays. */
export function abort(cancellation: Cancellation, reason: unknown): void {
  if (cancellation.aborted) return
  cancellation.aborted = true
  cancellation.reason = reason
  cancellation.controller?.abort(reason)
}

/** Makes a call whose signal is made when it is looked at. */
export function withSignal({ principal, mirrored, notify }: Omit<Call, 'signal'>, cancellation: Cancellation): Call {
  const call: CallWithoutSignal = { principal, mirrored, notify, [cancellationKey]: cancellation }
  defineSignal(call)
  return call
}

// A getter written in the literal would be a function of its own in every call, and V8 makes a hidden class for each;
// those pass the young generation and burden the garbage collector. A function that all calls share needs `this`.
const signalProperty: PropertyDescriptor & ThisType<CallWithoutSignal> = {
  enumerable: true,
  get() {
    return signalOf(this[cancellationKey])
  },
}

function defineSignal(call: CallWithoutSignal): asserts call is CallWithoutSignal & Call {
  Object.defineProperty(call, 'signal', signalProperty)
}

function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation.controller !== undefined) return cancellation.controller.signal
  const controller = new AbortController()
  cancellation.controller = controller
  if (cancellation.aborted) controller.abort(cancellation.reason)
  return controller.signal
}
