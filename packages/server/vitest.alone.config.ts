import base from '@tooling/vitest'
import { onlyAloneTests } from '@tooling/vitest/alone'

export default onlyAloneTests(base)
