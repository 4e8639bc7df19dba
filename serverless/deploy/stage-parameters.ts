import type { StageParameters } from '../framework.ts';

/** @returns a sentence that says what is wrong with the parameters of a stage; `undefined` when nothing is wrong */
export function findParameterProblem(parameters: StageParameters, region: string): string | undefined {
  const { domainName, certificateArn, hostedZoneId, requestsPerAddress, monitoringMinutes } = parameters;
  if (domainName === '' && (certificateArn !== '' || hostedZoneId !== '')) {
    return 'certificateArn and hostedZoneId need domainName.';
  }
  if (domainName !== '' && certificateArn === '') {
    return 'domainName needs certificateArn, a certificate for that name.';
  }
  if (domainName !== '' && certificateArn.split(':')[3] !== region) {
    return `certificateArn has to be a certificate in ${region}, the region of the stage.`;
  }
  // AWS WAF's limits.
  if (requestsPerAddress !== '' && !isWholeNumber(requestsPerAddress, 10, 2_000_000_000)) {
    return 'requestsPerAddress has to be a whole number of requests per minute, 10 or more.';
  }
  // CloudFormation's limit ("RollbackConfiguration").
  if (!isWholeNumber(monitoringMinutes, 0, 180)) {
    return 'monitoringMinutes has to be a whole number of minutes, 0 to 180.';
  }
  return undefined;
}

function isWholeNumber(value: string | number, min: number, max: number): boolean {
  return /^\d+$/.test(String(value)) && Number(value) >= min && Number(value) <= max;
}
