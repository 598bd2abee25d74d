import base from '@tooling/vitest'
import { withAloneTests } from '@tooling/vitest/alone'

export default withAloneTests(base)
