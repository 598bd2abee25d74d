import type { VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { openForm } from '@x/cli/web/forms/form.ts'
import { questionFields } from '@x/cli/web/forms/question-fields.ts'
import { toContent } from '@x/cli/web/forms/to-content.ts'
import type { OpenQuestion } from '../session/questions.ts'
import { showCount } from '@x/cli/web/units.ts'
import { FormFields, focusFirstIssue } from '@x/cli/web/inputs/form-fields.tsx'
import { KillButton } from './kill-button.tsx'

interface QuestionDialogProps {
  readonly open: OpenQuestion
  /** The number of further questions in the queue. */
  readonly waiting: number
  /** The address of the server that asks. */
  readonly address: string
  /** The instance that asked. Undefined if the page cannot kill it. */
  readonly instance: number | undefined
}

/**
 * Shows a question of the server, names the server, and always allows the user to decline (client/elicitation,
 * security). The dialog is modal: the browser keeps the focus inside and restores it when the dialog closes.
 */
export function QuestionDialog({ open, waiting, address, instance }: QuestionDialogProps): VNode {
  const { question, context, answer } = open
  const dialog = useRef<HTMLDialogElement>(null)
  const form = useMemo(() => openForm(questionFields(question.requestedSchema)), [question])
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      onCancel={(event) => {
        event.preventDefault()
        answer({ action: 'cancel' })
      }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          const values = form.read()
          if (values === undefined) focusFirstIssue(event.currentTarget)
          else answer({ action: 'accept', content: toContent(values) })
        }}
      >
        <p class="asks">
          <code>{context.target}</code> on {address} asks
          {waiting > 0 && <span> · {showCount(waiting, 'more question')}</span>}
        </p>
        <h2 id="question">{question.message}</h2>
        <FormFields form={form} prefix="question" />
        <div class="actions">
          <button type="submit" class="primary">
            Answer
          </button>
          <button type="button" onClick={() => answer({ action: 'decline' })}>
            Decline
          </button>
          <button type="button" class="quiet" onClick={() => answer({ action: 'cancel' })}>
            Cancel <kbd>Esc</kbd>
          </button>
        </div>
        {instance !== undefined && <KillButton instance={instance} />}
      </form>
    </dialog>
  )
}
