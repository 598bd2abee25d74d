import { definePanel, type PanelProps } from '@x/cli/web/panel.ts'

/** An upstream, as the program lists it. */
interface Upstream {
  readonly name: string
  readonly toolCount: number
  /** Undefined for an upstream that the page cannot end. */
  readonly isRunning?: boolean
}

definePanel('upstreams', ({ data = [], send }: PanelProps<readonly Upstream[]>) => (
  <ul class="list">
    {data.map(({ name, toolCount, isRunning }) => (
      <li key={name}>
        <strong>{name}</strong> {toolCount === 1 ? '1 tool' : `${toolCount} tools`}
        {isRunning !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={() => void send({ kind: isRunning ? 'kill' : 'start' }).catch(() => {})}
          >
            {isRunning ? 'Kill' : 'Start'}
          </button>
        )}
      </li>
    ))}
  </ul>
))
