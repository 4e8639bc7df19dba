import type { StageParameters } from '../framework.ts';

/** The unit, the least and the most of each parameter that is a number. */
const numbers = {
  // The smoke test sends 4,000 requests from one address, and the pipeline gives it ten minutes. The maximum is AWS WAF's.
  requestsPerAddress: ['requests per minute', 500, 2_000_000_000],
  // The pipeline's credentials are valid for an hour, in which a smoke test and a rollback follow.
  monitoringMinutes: ['minutes', 0, 30],
  monthlyBudget: ['US dollars', 1, 1_000_000],
  listConcurrency: ['instances', 1, 1_000],
} as const;

/** @returns a sentence that says what is wrong with the parameters of a stage; `undefined` when nothing is wrong */
export function findParameterProblem(
  parameters: StageParameters,
  stackName: string,
  region: string,
): string | undefined {
  const { domainName, certificateArn, hostedZoneId, tableName, alarmEmail, monthlyBudget, probe } = parameters;
  for (const [name, [unit, min, max]] of Object.entries(numbers)) {
    const value = String(parameters[name as keyof typeof numbers]);
    const isInRange = /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;
    if (value !== '' && !isInRange) return `${name} has to be a whole number of ${unit}, ${min} to ${max}.`;
  }
  const problems: Readonly<Record<string, boolean>> = {
    'certificateArn and hostedZoneId need domainName.': domainName === '' && certificateArn + hostedZoneId !== '',
    [`domainName needs certificateArn, a certificate in ${region}, the region of the stage.`]:
      domainName !== '' && certificateArn.split(':')[3] !== region,
    'monthlyBudget needs alarmEmail.': monthlyBudget !== '' && alarmEmail === '',
    'probe has to be "on", or unset.': probe !== '' && probe !== 'on',
    // The permissions boundary allows these.
    [`tableName has to begin with ${stackName}-, or to be unset.`]:
      tableName !== '' && !tableName.startsWith(`${stackName}-`),
  };
  return Object.keys(problems).find((problem) => problems[problem]);
}
