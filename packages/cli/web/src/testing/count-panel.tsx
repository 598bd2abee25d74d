import { definePanel, type PanelProps } from '../panel.ts'

definePanel('count', ({ data = 0, isLive, send, fill }: PanelProps<number>) => (
  <div class="actions">
    <output>{isLive ? `Counted to ${data}` : 'Not connected'}</output>
    <button type="button" onClick={() => void send({ by: 2 })}>
      Count on
    </button>
    <button type="button" onClick={() => fill('pay', { id: data })}>
      Pay this
    </button>
  </div>
))
