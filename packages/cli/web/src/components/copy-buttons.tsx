import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { CallView } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'
import { toCurl } from '../texts/curl.ts'
import { toTest } from '../texts/node-test.ts'

/** Shows the buttons that copy a call: its last request as a command, and the whole of it as a test. */
export function CopyButtons({ session, call }: { readonly session: Session; readonly call: CallView }): VNode | null {
  const copied = useSignal<string | undefined>(undefined)
  const messages = session.state
    .timelineOf(call.id)
    .flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
  const last = messages.findLast(({ direction, http }) => direction === 'sent' && http?.url !== undefined)
  const texts: readonly (readonly [label: string, text: string | undefined])[] = [
    ['Copy as test', toTest({ call, messages, module: moduleOf(session.state.server.value?.target) })],
    ['Copy as curl', last && toCurl(last)],
    ['curl, new key', last && hasOwnKey(last.text) ? toCurl(last, randomKey()) : undefined],
  ]
  const copy = async (label: string, text: string): Promise<void> => {
    await navigator.clipboard.writeText(text)
    copied.value = label
  }
  return (
    <p class="actions">
      {texts.map(
        ([label, text]) =>
          text !== undefined && (
            <button key={label} type="button" class="quiet" onClick={() => void copy(label, text)}>
              {label}
            </button>
          ),
      )}
      <span class="hint" role="status">
        {copied.value !== undefined && `${copied.value}: done`}
      </span>
    </p>
  )
}

/** A call that is continued by its state is identified by that state, and not by the key of the request. */
function hasOwnKey(text: string): boolean {
  return /idempotencyKey"/.test(text) && !text.includes('"requestState":')
}

/** Returns 16 random bytes in Base64url: 22 characters, as a server requires. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22)
}

/** A test stands beside the module of a server. Of a command it is not known. */
function moduleOf(target = ''): string | undefined {
  const file = /^[^\s]+\.[cm]?[jt]s$/.test(target) ? target.split('/').at(-1) : undefined
  return file && `./${file}`
}
