import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import { gammaEvent, gammaMarket } from './messages.ts';

/** Fields of a market that the venue documents or was seen to send, and that are not read (schemas of 2026-10). */
const MARKET_NOT_READ = `$schema acceptingOrdersTimestamp active ammType approved archived automaticallyActive
  automaticallyResolved bestAsk bestBid categories category categoryMailchimpTag chartColor clearBookOnStart clobRewards
  comboStatus commentsEnabled competitive createdAt createdBy creator cryptoMarketConfigId curationOrder customLiveness
  cyom denominationToken deploying deployingTimestamp description disqusThread enableOrderBook endDateIso fee feeExponent
  feeRate feeType featured formatType fpmmLive funded fundedTimestamp gameId gameStartTime groupItemRange
  groupItemThreshold groupItemTitle hasReviewedDates holdingRewardsEnabled icon iconOptimized id image imageOptimized
  internalUsers lastTradePrice line liquidityAmm liquidityClob lowerBound lowerBoundDate mailchimpTag makerBaseFee
  makerRebatesFeeShareBps manualActivation marketGroup marketMakerAddress marketType markets negRisk negRiskMarketID
  negRiskOther negRiskRequestID new notificationsEnabled oneDayPriceChange oneHourPriceChange oneMonthPriceChange
  oneWeekPriceChange oneYearPriceChange orderMinSize pagerDutyNotificationEnabled pastSlugs pendingDeployment positionIds
  questionID ready readyForCron readyTimestamp requiresTranslation resolutionSource resolutionStatus resolvedBy
  restricted rewardsMaxSpread rewardsMinSize rfqEnabled scheduledDeploymentTimestamp score secondsDelay sentDiscord
  seriesColor shortOutcomes showGmpOutcome showGmpSeries sponsorImage sponsorName sportsMarketType spread startDate
  startDateIso subcategory submitted_by tags takerBaseFee teamAID teamBID twitterCardImage twitterCardLastRefreshed
  twitterCardLastValidated twitterCardLocation umaBond umaEndDate umaEndDateIso umaResolutionStatuses umaReward updatedAt
  updatedBy upperBound upperBoundDate version volume1mo volume1moAmm volume1moClob volume1wk volume1wkAmm volume1wkClob
  volume1yr volume1yrAmm volume1yrClob volume24hr volume24hrAmm volume24hrClob volumeAmm volumeClob wideFormat
  xAxisValue yAxisValue`;

/** The same for an event. */
const EVENT_NOT_READ = `$schema active archived automaticallyActive automaticallyResolved bestLines cantEstimate carouselMap
  categories category chats closed closedTime collections color commentCount commentsEnabled competitive countryName
  createdAt createdBy creationDate cumulativeMarkets cyom deploying deployingTimestamp description disqusThread elapsed
  electionType enableNegRisk enableOrderBook endDate ended estimateValue estimatedValue eventCreators eventDate eventWeek
  featured featuredImage featuredImageOptimized featuredOrder finishedTimestamp gameId gameStatus gmpChartMode icon
  iconOptimized image imageOptimized internalUsers isTemplate liquidity liquidityAmm liquidityClob live negRisk
  negRiskAugmented negRiskFeeBips negRiskMarketID new openInterest parentEvent pendingDeployment period published_at
  requiresTranslation rescheduledFromGameId resolutionSource restricted scheduledDeploymentTimestamp score series
  seriesSlug showAllOutcomes showMarketImages slug sortBy sportsradarMatchId spreadsMainLine startDate startTime subEvents
  subcategory subtitle tag_labels tag_slugs tags templateVariables templates ticker title totalsMainLine tweetCount
  updatedAt updatedBy version volume volume1mo volume1wk volume1yr volume24hr`;

const INSIDE_MARKET = {
  feeSchedule: knownKeys('rate exponent', 'takerOnly rebateRate'),
  cryptoMarketConfig: knownKeys('twapLookbackSeconds', 'id asset duration twapEnabled'),
};
const INSIDE_EVENT = { eventMetadata: knownKeys('priceToBeat finalPrice') };

/** A page of `/events/keyset`, an object of `/events`, and one of `/markets`, which contains its event. */
export const GAMMA_KINDS = {
  page: knownKeys('events next_cursor'),
  event: knownKeys(gammaEvent, EVENT_NOT_READ, {
    ...INSIDE_EVENT,
    markets: knownKeys(gammaMarket, MARKET_NOT_READ, INSIDE_MARKET),
  }),
  market: knownKeys(gammaMarket, MARKET_NOT_READ, {
    ...INSIDE_MARKET,
    events: knownKeys(gammaEvent, EVENT_NOT_READ, INSIDE_EVENT),
  }),
} satisfies MessageKinds;
