import type { VNode } from 'preact'
import { useState } from 'preact/hooks'

const texts = {
  killed: 'is killed. Answer the question: another instance continues the call.',
  failed: 'could not be killed.',
} as const

/** Shows a button that kills the instance that asked. The call then continues at another instance. */
export function KillButton({ instance }: { readonly instance: number }): VNode {
  const [state, setState] = useState<keyof typeof texts | undefined>()
  const kill = async (): Promise<void> => {
    const response = await fetch(`/instances/${instance}/kill`, { method: 'POST' }).catch(() => undefined)
    setState(response?.ok === true ? 'killed' : 'failed')
  }
  return (
    <p class="hint kill" role="status">
      {state === undefined ? (
        <button type="button" class="quiet" onClick={kill}>
          Kill instance {instance}, which asked
        </button>
      ) : (
        `Instance ${instance} ${texts[state]}`
      )}
    </p>
  )
}
