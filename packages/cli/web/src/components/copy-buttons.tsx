import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { CallView } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'
import { toCurl } from '../texts/curl.ts'
import { toTest } from '../texts/vitest.ts'

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
    ['curl, new key', last && /idempotencyKey"/.test(last.text) ? toCurl(last, crypto.randomUUID()) : undefined],
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

/** A test stands beside the module of a server. Of a command it is not known. */
function moduleOf(target = ''): string {
  const file = /^[^\s]+\.[cm]?[jt]s$/.test(target) ? target.split('/').at(-1) : undefined
  return `./${(file ?? 'server.js').replace(/\.([cm]?)ts$/, '.$1js')}`
}
